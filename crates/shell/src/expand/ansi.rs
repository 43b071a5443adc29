//! `$'…'`: the escapes in it.

use super::Reader;
use crate::lexer::Refused;

impl Reader<'_> {
    /// The rest of `$'…'`, decoded.
    pub(super) fn ansi(&mut self, out: &mut Vec<u8>) -> Result<(), Refused> {
        loop {
            let byte = self.peek(0).ok_or(Refused::Syntax)?;
            self.pos += 1;
            match byte {
                b'\'' => return Ok(()),
                b'\\' => {
                    let escape = self.peek(0).ok_or(Refused::Syntax)?;
                    self.pos += 1;
                    self.ansi_escape(escape, out)?;
                }
                _ => out.push(byte),
            }
        }
    }

    fn ansi_escape(&mut self, escape: u8, out: &mut Vec<u8>) -> Result<(), Refused> {
        let simple = match escape {
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => escape,
            b'0'..=b'7' => {
                self.pos -= 1;
                let value = self.digits(8, 3);
                // A NUL ends the string in bash.
                match u8::try_from(value & 0xff) {
                    Ok(0) | Err(_) => return Err(Refused::Unsupported),
                    Ok(byte) => byte,
                }
            }
            b'x' => match self.digits(16, 2) {
                0 => return Err(Refused::Unsupported),
                value => u8::try_from(value).map_err(|_| Refused::Unsupported)?,
            },
            b'u' | b'U' => {
                let value = self.digits(16, if escape == b'u' { 4 } else { 8 });
                let char = char::from_u32(value).filter(|char| *char != '\0');
                let mut buffer = [0; 4];
                let char = char.ok_or(Refused::Unsupported)?;
                out.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes());
                return Ok(());
            }
            b'c' => {
                let control = self.peek(0).ok_or(Refused::Syntax)?;
                self.pos += 1;
                match control & 0x1f {
                    0 => return Err(Refused::Unsupported),
                    byte => byte,
                }
            }
            _ => {
                out.push(b'\\');
                escape
            }
        };
        out.push(simple);
        Ok(())
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0_u32;
        for _ in 0..most {
            let digit = self.peek(0).and_then(|byte| char::from(byte).to_digit(radix));
            let Some(digit) = digit else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.pos += 1;
        }
        value
    }
}
