//! Addresses, read so that every reader would agree, and patterns over them.
//!
//! Readers of addresses differ: what is a user name to one is the host to the next. Where they
//! could differ about the host, the address is not readable here and every pattern may match it.
//! Redirects and what a name resolves to are out of reach.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Side, Truth};
use crate::glob::{Flaw, Token, stars, tokens_match};

/// An address in normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    scheme: String,
    host: String,
    /// The port if it is not the scheme's own.
    port: Option<u16>,
    path: String,
    query: Option<String>,
    /// Whether servers may read the path otherwise than it stands here.
    ambiguous: bool,
}

/// What an address must be like.
#[derive(Debug, Clone)]
pub(super) enum UrlPattern {
    /// The host, whatever the scheme, port and path.
    Domain(Box<[Token]>),
    /// Everything but the fragment and the user.
    Address { scheme: Scheme, host: Box<[Token]>, port: Option<u16>, path: Box<[Token]> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Any,
    Http,
    Https,
}

impl UrlPattern {
    pub(super) fn parse(text: &str) -> Result<Self, Flaw> {
        if let Some(host) = text.strip_prefix("domain:") {
            let at = text.len() - host.len();
            if let Some(colon) = host.find(':').filter(|_| !host.starts_with('[')) {
                return Err(Flaw::new(
                    at + colon..text.len(),
                    "a domain has no port",
                    format!("write `https://{host}/*`"),
                ));
            }
            return host_pattern(host).map(Self::Domain).map_err(|flaw| flaw.shifted(at));
        }
        let whole = || 0..text.len();
        let (scheme, rest) = text.split_once("://").ok_or_else(|| {
            Flaw::new(
                whole(),
                "neither a domain nor an address",
                format!(
                    "write `domain:{}`, or an address such as `https://example.com/docs/*`",
                    if text.contains(['/', ':']) { "example.com" } else { text }
                ),
            )
        })?;
        let at = text.len() - rest.len();
        let default_port;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "*" => {
                default_port = None;
                Scheme::Any
            }
            "http" => {
                default_port = Some(80);
                Scheme::Http
            }
            "https" => {
                default_port = Some(443);
                Scheme::Https
            }
            _ => {
                return Err(Flaw::new(
                    0..scheme.len(),
                    format!("`{scheme}` is not fetched"),
                    "write `https`, `http`, or `*` for both",
                ));
            }
        };
        let Some((authority, path)) = rest.split_once('/') else {
            return Err(Flaw::new(
                whole(),
                "the address has no path",
                format!("write `{text}/*` for all of it, or `{text}/` for its front page"),
            ));
        };
        if authority.contains(['@', '\\', '?', '#']) {
            return Err(Flaw::new(
                at..at + authority.len(),
                "the host holds a character that ends it or comes before it",
                "write scheme, host and path only",
            ));
        }
        let (host, port) = split_port(authority);
        let port = match port {
            None | Some("") => None,
            Some(port) => Some(port.parse::<u16>().map_err(|_| {
                Flaw::new(
                    at + authority.len() - port.len()..at + authority.len(),
                    format!("`{port}` is not a port"),
                    "write a number up to 65535, or none for the usual one",
                )
            })?),
        };
        let path_at = at + authority.len();
        if let Some(hash) = path.find('#') {
            return Err(Flaw::new(
                path_at + 1 + hash..text.len(),
                "a fragment is never sent",
                "leave `#` and what follows out",
            ));
        }
        if path.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(Flaw::new(
                path_at..text.len(),
                "a path has no white space and no `\\`",
                "write `%20` for a space",
            ));
        }
        Ok(Self::Address {
            scheme,
            host: host_pattern(host).map_err(|flaw| flaw.shifted(at))?,
            port: port.filter(|_| port != default_port),
            path: path_pattern(path),
        })
    }

    pub(super) fn matches(&self, address: &str, side: Side) -> Truth {
        let Some(address) = read(address) else { return Truth::Maybe };
        match self {
            Self::Domain(host) => tokens_match(host, &address.host).into(),
            Self::Address { scheme, host, port, path } => {
                let scheme_fits = match scheme {
                    Scheme::Any => matches!(&*address.scheme, "http" | "https"),
                    Scheme::Http => address.scheme == "http",
                    Scheme::Https => address.scheme == "https",
                };
                // Many clients turn http into https, so for a deny the two are one.
                let upgraded = side == Side::Any
                    && matches!(&*address.scheme, "http" | "https")
                    && address.port.is_none()
                    && port.is_none();
                if !((scheme_fits && *port == address.port) || upgraded)
                    || !tokens_match(host, &address.host)
                {
                    return Truth::No;
                }
                let full = match &address.query {
                    Some(query) => format!("{}?{query}", address.path),
                    None => address.path.clone(),
                };
                let fits = tokens_match(path, &full)
                    || (side == Side::Any && tokens_match(path, &address.path));
                match (fits, side) {
                    (true, Side::Any) => Truth::Yes,
                    (false, Side::Every) => Truth::No,
                    _ if address.ambiguous => Truth::Maybe,
                    (fits, _) => fits.into(),
                }
            }
        }
    }
}

/// A host in a pattern: lower case, without the dot at its end.
fn host_pattern(text: &str) -> Result<Box<[Token]>, Flaw> {
    let host = text.to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    let whole = 0..text.len();
    if host.is_empty() {
        return Err(Flaw::new(whole, "the host is empty", "write it, or `*` for every host"));
    }
    if host == "*" || (!host.contains('*') && normal_host(host).is_some_and(|own| own == host)) {
        return Ok(stars(host));
    }
    if !host.is_ascii() {
        return Err(Flaw::new(
            whole,
            "a host with other letters than those of ASCII",
            "write its form that starts with `xn--`",
        ));
    }
    if let Some(normal) = (!host.contains('*')).then(|| normal_host(host)).flatten() {
        return Ok(stars(&normal));
    }
    let is_label = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*".contains(&byte);
    let wrong = host.bytes().position(|byte| !is_label(byte));
    if let Some(at) = wrong {
        return Err(Flaw::new(
            at..text.len(),
            format!("`{text}` is not a host"),
            "write a name such as `example.com` or `*.example.com`",
        ));
    }
    if !host.contains('*') || host.starts_with('.') || host.contains("..") {
        return Err(Flaw::new(
            whole,
            format!("`{text}` is not a host"),
            if host.starts_with('.') {
                format!("write `*{host}` for the subdomains")
            } else {
                "write a name such as `example.com`, or an address in its usual form".into()
            },
        ));
    }
    Ok(stars(host))
}

/// The path of a pattern in the form that paths of addresses are brought to. Its stars stay.
fn path_pattern(path: &str) -> Box<[Token]> {
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path, None),
    };
    let mut text = without_dots(&recoded(path));
    if let Some(query) = query {
        text.push('?');
        text.push_str(&recoded(query));
    }
    stars(&text)
}

/// Reads an address; `None` if it is none, or readers could differ about its host.
fn read(text: &str) -> Option<Address> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii_control() || c == ' ');
    // Some readers take these out, some end there.
    if trimmed.contains(|c: char| c.is_control()) {
        return None;
    }
    let (scheme, rest) = trimmed.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    // Any other number of slashes is read in different ways.
    let rest =
        rest.strip_prefix("//").filter(|rest| is_scheme && !rest.starts_with(['/', '\\']))?;
    let scheme = scheme.to_ascii_lowercase();
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(authority_end);
    // A backslash ends the host for browsers and is part of a user name for others.
    if authority.contains('\\') {
        return None;
    }
    let host_and_port = match authority.split_once('@') {
        None => authority,
        Some((_, host)) if !host.contains('@') => host,
        Some(_) => return None,
    };
    let (host, port) = split_port(host_and_port);
    let port = match port {
        None | Some("") => None,
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => Some(port.parse::<u16>().ok()?),
        Some(_) => return None,
    };
    let default_port = match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let (tail, _fragment) = tail.split_once('#').unwrap_or((tail, ""));
    let (path, query) = match tail.split_once('?') {
        Some((path, query)) => (path, Some(recoded(query))),
        None => (tail, None),
    };
    let recoded_path = recoded(&path.replace('\\', "/"));
    Some(Address {
        host: normal_host(&host.to_ascii_lowercase())?,
        port: port.filter(|_| port != default_port),
        ambiguous: is_ambiguous(path, &recoded_path),
        path: without_dots(recoded_path.strip_prefix('/').unwrap_or(&recoded_path)),
        query,
        scheme,
    })
}

/// Whether servers may read a path in more than one way.
fn is_ambiguous(path: &str, recoded: &str) -> bool {
    let wrong_escape = recoded.match_indices('%').any(|(at, _)| {
        let digits = recoded.get(at + 1..at + 3).unwrap_or_default();
        digits.len() < 2 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    wrong_escape
        || path.contains(['\\', ';'])
        || ["//", "%2F", "%5C", "%25", "%3B", "%00"].iter().any(|sign| recoded.contains(sign))
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    let name_end = authority.rfind(']').map_or(0, |at| at + 1);
    let (name, rest) = authority.split_at(name_end);
    match rest.split_once(':') {
        Some((host, port)) if name.is_empty() => (host, Some(port)),
        Some(("", port)) => (name, Some(port)),
        // Something stands between `]` and the port: no host at all.
        Some(_) => ("", None),
        None => (authority, None),
    }
}

/// A host in lower case in its normal form: no dot at the end, numbers as addresses are written
/// usually; `None` if readers may differ about it.
fn normal_host(host: &str) -> Option<String> {
    if let Some(inner) = host.strip_prefix('[') {
        let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
        return Some(match address.to_ipv4_mapped() {
            Some(mapped) => mapped.to_string(),
            None => format!("[{address}]"),
        });
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    if !host.split('.').all(is_label) {
        return None;
    }
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    if is_number {
        // Octal, hexadecimal and short forms mean an address to some readers and a name to others.
        return host.parse::<Ipv4Addr>().ok().map(|address| address.to_string());
    }
    Some(host.to_owned())
}

/// A path or query with escapes only where they are needed: unreserved characters are written out,
/// the digits of other escapes are upper case, and what must be escaped is.
fn recoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut ahead = bytes.clone();
            let digits = [ahead.next(), ahead.next()]
                .map(|digit| digit.and_then(|digit| char::from(digit).to_digit(16)));
            if let [Some(high), Some(low)] = digits {
                bytes = ahead;
                let value = u8::try_from(high * 16 + low).unwrap_or_default();
                if value.is_ascii_alphanumeric() || b"-._~*".contains(&value) {
                    out.push(char::from(value));
                } else {
                    escape(value, &mut out);
                }
                continue;
            }
            out.push('%');
        } else if byte.is_ascii_graphic() && !b"\"<>`^{|}".contains(&byte) {
            out.push(char::from(byte));
        } else {
            escape(byte, &mut out);
        }
    }
    out
}

fn escape(byte: u8, out: &mut String) {
    // Writing to a text does not fail.
    let _ = write!(out, "%{byte:02X}");
}

/// A path, given without its first slash, with `.` and `..` taken out.
fn without_dots(path: &str) -> String {
    let mut components: Vec<&str> = Vec::new();
    let mut folder = false;
    for component in path.split('/') {
        folder = matches!(component, "." | "..");
        match component {
            "." => {}
            ".." => {
                components.pop();
            }
            name => components.push(name),
        }
    }
    let mut out = format!("/{}", components.join("/"));
    if folder && !out.ends_with('/') {
        out.push('/');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, address: &str) -> Truth {
        UrlPattern::parse(pattern).unwrap().matches(address, Side::Any)
    }

    fn allows(pattern: &str, address: &str) -> Truth {
        UrlPattern::parse(pattern).unwrap().matches(address, Side::Every)
    }

    #[test]
    fn a_domain_is_the_host_itself_and_a_star_its_subdomains() {
        for (pattern, address, expected) in [
            ("domain:example.com", "https://example.com/a", true),
            ("domain:example.com", "http://EXAMPLE.com:8080", true),
            ("domain:Example.COM.", "https://example.com./", true),
            ("domain:example.com", "https://www.example.com/", false),
            ("domain:example.com", "https://example.com.evil.org/", false),
            ("domain:*.example.com", "https://a.b.example.com/", true),
            ("domain:*.example.com", "https://example.com/", false),
            ("domain:*.example.com", "https://evilexample.com/", false),
            ("domain:*", "https://anything.org", true),
            ("domain:good.com", "https://good.com@evil.com/", false),
            ("domain:evil.com", "https://good.com@evil.com/", true),
            ("domain:evil.com", "https://good.com:80@evil.com:443/", true),
            ("domain:evil.com", "https://good.com/?x=https://evil.com", false),
            ("domain:evil.com", "https://good.com#@evil.com/", false),
            ("domain:127.0.0.1", "http://[::ffff:127.0.0.1]/", true),
            ("domain:[::1]", "http://[0:0:0:0:0:0:0:1]:80/", true),
            ("domain:xn--bcher-kva.de", "https://xn--bcher-kva.de/", true),
        ] {
            assert_eq!(matches(pattern, address), expected.into(), "{pattern} {address}");
        }
    }

    #[test]
    fn where_readers_differ_about_the_host_nobody_can_know() {
        for address in [
            "",
            "example.com",
            "//example.com/",
            "https:example.com",
            "https:/example.com",
            "https:///example.com",
            "https:\\\\example.com",
            "https://good.com\\@evil.com/",
            "https://good.com\\.evil.com/",
            "https://a@b@c/",
            "https://ex\tample.com/",
            "https://example.com\n.evil.com/",
            "https://ex%61mple.com/",
            "https://bücher.de/",
            "https://example。com/",
            "https://example.com:99999/",
            "https://example.com:8o/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://127.1/",
            "https://0177.0.0.1/",
            "https://[::1/",
            "https://[::1]x:80/",
            "https://exa mple.com/",
            "https://example..com/",
            "https:///",
            "https://@/",
        ] {
            assert_eq!(matches("domain:evil.com", address), Truth::Maybe, "{address}");
            assert_ne!(allows("domain:*", address), Truth::Yes, "{address}");
        }
    }

    #[test]
    fn an_address_is_matched_in_its_normal_form() {
        for (pattern, address, expected) in [
            ("https://example.com/docs/*", "https://example.com/docs/a/b?q=1", true),
            ("https://example.com/docs/*", "https://EXAMPLE.com:443/docs/", true),
            ("https://example.com/docs/*", "https://example.com/docs", false),
            ("https://example.com/docs/*", "https://example.com/docs/../admin", false),
            ("https://example.com/admin*", "https://example.com/docs/../admin", true),
            ("https://example.com/admin*", "https://example.com/%61dmin/x", true),
            ("https://example.com/admin*", "https://example.com/x/%2e%2e/admin", true),
            ("https://example.com/admin", "https://example.com/admin?x=1#y", true),
            ("https://example.com/", "https://example.com", true),
            ("https://example.com/*", "http://example.com/a", true),
            ("https://example.com/*", "https://example.com:8443/a", false),
            ("https://example.com:8443/*", "https://example.com:8443/a", true),
            ("*://example.com/*", "http://example.com/a", true),
            ("*://*.example.com/*", "http://a.example.com/a", true),
            ("https://example.com/a?b=*", "https://example.com/a?b=c", true),
            ("https://example.com/a?b=*", "https://example.com/ab=c", false),
            ("https://example.com/ä", "https://example.com/%c3%a4", true),
        ] {
            assert_eq!(matches(pattern, address), expected.into(), "{pattern} {address}");
        }
    }

    #[test]
    fn an_allow_takes_the_address_as_a_whole() {
        for (pattern, address, expected) in [
            ("https://example.com/*", "https://example.com/a?q", Truth::Yes),
            ("https://example.com/*", "http://example.com/a", Truth::No),
            ("https://example.com/page", "https://example.com/page?secret=1", Truth::No),
            ("https://example.com/docs/*", "https://example.com/docs/..%2Fadmin", Truth::Maybe),
        ] {
            assert_eq!(allows(pattern, address), expected, "{pattern} {address}");
        }
        let deny = "https://example.com/admin/*";
        for address in ["admin%2Fx", "x\\..\\admin/y", "x;/admin", "%2561dmin/x", "a%zz"] {
            let address = format!("https://example.com/{address}");
            assert_ne!(matches(deny, &address), Truth::No, "{address}");
        }
    }

    #[test]
    fn patterns_that_would_miss_are_refused_where_they_stand() {
        for (pattern, span, message) in [
            ("example.com", 0..11, "neither a domain nor an address"),
            ("domain:", 7..7, "the host is empty"),
            ("domain:a.com:80", 12..15, "a domain has no port"),
            ("domain:a.com/x", 12..14, "`a.com/x` is not a host"),
            ("domain:.a.com", 7..13, "`.a.com` is not a host"),
            ("domain:127.1", 7..12, "`127.1` is not a host"),
            ("domain:bücher.de", 7..17, "a host with other letters than those of ASCII"),
            ("ftp://a.com/", 0..3, "`ftp` is not fetched"),
            ("https://a.com", 0..13, "the address has no path"),
            (
                "https://u@a.com/",
                8..15,
                "the host holds a character that ends it or comes before it",
            ),
            ("https://a.com:x/", 14..15, "`x` is not a port"),
            ("https://a.com/#x", 14..16, "a fragment is never sent"),
            ("https://a.com/a b", 13..17, "a path has no white space and no `\\`"),
        ] {
            let flaw = UrlPattern::parse(pattern).unwrap_err();
            assert_eq!((flaw.span, flaw.message.as_str()), (span, message), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn any_address_is_read_or_not(text in "\\PC{0,20}|https?:[/\\\\]{0,3}[a-c@:.%/\\\\?#\\[\\]0-9]{0,20}") {
            if let Some(address) = read(&text) {
                prop_assert!(normal_host(&address.host) == Some(address.host.clone()));
                prop_assert!(address.path.starts_with('/'));
            }
            if let Err(flaw) = UrlPattern::parse(&text) {
                prop_assert!(text.get(flaw.span.clone()).is_some(), "{flaw:?}");
            }
        }

        // Every spelling of one address is the same address, or nobody can know.
        #[test]
        fn other_spellings_do_not_get_past_a_deny(
            user in "([a-z.]{1,4}@)?", dot in "\\.?", port in "(:443|:)?", noise in "(x/\\.\\./|\\./|x/%2e\\./)?",
            upper in any::<bool>(), tail in "(\\?q=1)?(#f)?",
        ) {
            let host = if upper { "EVIL.Com" } else { "evil.com" };
            let address = format!("https://{user}{host}{dot}{port}/{noise}admin{tail}");
            prop_assert_eq!(matches("domain:evil.com", &address), Truth::Yes);
            prop_assert_eq!(matches("https://evil.com/admin", &address), Truth::Yes);
        }
    }
}
