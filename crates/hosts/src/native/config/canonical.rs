//! A part of a file as text that says what it says and nothing else, for trust digests.
//!
//! It looks like JSON with sorted keys, but is only ever compared: two values have one text exactly
//! if they are the same TOML value. Changing how it is written would make every trusted hook look
//! changed.

use tenter_core::json::write_string;
use toml::de::{DeInteger, DeTable, DeValue};

/// The text of a value.
pub(crate) fn text(value: &DeValue<'_>) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &DeValue<'_>, out: &mut String) {
    match value {
        DeValue::String(text) => write_string(text, out),
        DeValue::Integer(number) => match integer(number) {
            Some(number) => out.push_str(&number.to_string()),
            // A number that no machine holds: as it stands in the file.
            None => out.push_str(&number.to_string()),
        },
        // The sign keeps a float from being read as an integer or a text.
        DeValue::Float(number) => {
            out.push('~');
            match number.as_str().parse::<f64>() {
                Ok(number) => out.push_str(&format_float(number)),
                Err(_) => out.push_str(number.as_str()),
            }
        }
        DeValue::Boolean(flag) => out.push_str(if *flag { "true" } else { "false" }),
        DeValue::Datetime(time) => {
            out.push('@');
            out.push_str(&time.to_string());
        }
        DeValue::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item.get_ref(), out);
            }
            out.push(']');
        }
        DeValue::Table(table) => write_table(table, out),
    }
}

/// The shortest text that reads back as the same number.
fn format_float(number: f64) -> String {
    format!("{number:?}")
}

fn write_table(table: &DeTable<'_>, out: &mut String) {
    let mut members: Vec<_> =
        table.iter().map(|(key, value)| (key.get_ref(), value.get_ref())).collect();
    // The parser sorts keys too, unless some other crate turns on its `preserve_order`.
    members.sort_by(|a, b| a.0.cmp(b.0));
    out.push('{');
    for (at, (key, value)) in members.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

/// The number behind any notation of an integer, if it is small enough to be one.
pub(super) fn integer(number: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(number.as_str(), number.radix()).ok()
}
