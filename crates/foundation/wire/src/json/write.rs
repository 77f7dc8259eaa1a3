//! Writes JSON text, compact. `serde_json` looks at a string byte by byte before it copies it; of an answer that carries a long
//! text that is a third of all the work. Here whole blocks are looked at, as [`super::Tokens`] does when it reads.

use std::fmt;

use serde::ser::{self, Serialize};

use super::plain_length;

/// What cannot be written as JSON: a map whose keys are not scalars, or an error of the value itself.
#[derive(Debug)]
pub struct Unwritable(String);

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unwritable {}

impl ser::Error for Unwritable {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self(why.to_string())
    }
}

/// Appends `value` to `out`, as `serde_json` writes it; raw values alone are refused.
pub fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), Unwritable> {
    value.serialize(Writer(out))
}

/// Appends a string, quotes included.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let plain = plain_length(rest);
        out.extend_from_slice(&rest[..plain]);
        let Some(&byte) = rest.get(plain) else { break };
        escape(out, byte);
        rest = &rest[plain + 1..];
    }
    out.push(b'"');
}

/// Appends the escape of a quote, a backslash or a control character.
fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&digits);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

struct Writer<'o>(&'o mut Vec<u8>);

/// An object or an array that is being written.
struct Open<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
    close: &'static [u8],
}

impl<'o> Writer<'o> {
    fn number(self, number: impl fmt::Display) -> Result<(), Unwritable> {
        use std::io::Write as _;
        write!(self.0, "{number}").map_err(ser::Error::custom)
    }

    fn plain(self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn open(self, open: u8, close: &'static [u8]) -> Open<'o> {
        self.0.push(open);
        Open { out: self.0, empty: true, close }
    }

    /// `{"variant":` and then `open`.
    fn variant(self, variant: &str, open: u8, close: &'static [u8]) -> Open<'o> {
        self.0.push(b'{');
        write_string(self.0, variant);
        self.0.push(b':');
        Writer(self.0).open(open, close)
    }
}

impl Open<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.comma();
        write(self.out, value)
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Unwritable> {
        self.comma();
        write_string(self.out, name);
        self.out.push(b':');
        write(self.out, value)
    }

    fn comma(&mut self) {
        if !std::mem::take(&mut self.empty) {
            self.out.push(b',');
        }
    }

    /// A name that may be a scalar other than a string: it becomes one.
    fn name<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Unwritable> {
        self.comma();
        let start = self.out.len();
        write(self.out, name)?;
        match self.out.get(start) {
            Some(b'"') => Ok(()),
            Some(b'{' | b'[' | b'n') | None => Err(ser::Error::custom("a name must be a string")),
            Some(_) => {
                self.out.insert(start, b'"');
                self.out.push(b'"');
                Ok(())
            }
        }
    }

    fn close(self) {
        self.out.extend_from_slice(self.close);
    }
}

impl<'o> ser::Serializer for Writer<'o> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Open<'o>;
    type SerializeTuple = Open<'o>;
    type SerializeTupleStruct = Open<'o>;
    type SerializeTupleVariant = Open<'o>;
    type SerializeMap = Open<'o>;
    type SerializeStruct = Open<'o>;
    type SerializeStructVariant = Open<'o>;

    fn serialize_bool(self, value: bool) -> Result<(), Unwritable> {
        self.plain(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Unwritable> {
        self.number(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Unwritable> {
        serde_json::to_writer(self.0, &value).map_err(ser::Error::custom)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Unwritable> {
        serde_json::to_writer(self.0, &value).map_err(ser::Error::custom)
    }

    fn serialize_char(self, value: char) -> Result<(), Unwritable> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Unwritable> {
        write_string(self.0, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unwritable> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Unwritable> {
        self.plain("null");
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unwritable> {
        self.plain("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unwritable> {
        self.plain("null");
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Unwritable> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        let mut open = self.open(b'{', b"}");
        open.member(variant, value)?;
        open.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'o>, Unwritable> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'o>, Unwritable> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'o>, Unwritable> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'o>, Unwritable> {
        Ok(self.variant(variant, b'[', b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'o>, Unwritable> {
        Ok(self.open(b'{', b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Open<'o>, Unwritable> {
        // Raw values and the like are told from structs by such a name, and mean something to `serde_json` alone.
        if name.starts_with("$serde_json") {
            return Err(ser::Error::custom("a raw value cannot be written here"));
        }
        Ok(self.open(b'{', b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'o>, Unwritable> {
        Ok(self.variant(variant, b'{', b"}}"))
    }
}

impl ser::SerializeSeq for Open<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.element(value)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeTuple for Open<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.element(value)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeTupleStruct for Open<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.element(value)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeTupleVariant for Open<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.element(value)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeMap for Open<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unwritable> {
        self.name(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.out.push(b':');
        write(self.out, value)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeStruct for Open<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Unwritable> {
        self.member(key, value)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeStructVariant for Open<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Unwritable> {
        self.member(key, value)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
