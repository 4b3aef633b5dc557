//! The `tojson` filter as chat templates know it: Python's json.dumps(value, ensure_ascii=False, indent=...).
//!
//! The interpreter's own filter escapes for HTML and has no bound on depth, indent or size, so this one stands in.

use std::fmt::Write;

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};

const DEPTH_MAX: usize = 64; // as limits::kJsonDepthMax
const INDENT_MAX: usize = 16;

pub fn tojson(state: &State, value: &Value, options: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let sort_keys: Option<bool> = options.get("sort_keys")?;
    let ensure_ascii: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    if indent.is_some_and(|i| i > INDENT_MAX) || ensure_ascii == Some(true) {
        return Err(Error::new(ErrorKind::InvalidOperation, "tojson: indent over 16 or ensure_ascii=True"));
    }
    let mut writer = Writer { state, out: String::new(), charged: 0, indent, sort_keys: sort_keys.unwrap_or(false) };
    writer.value(value, 0)?;
    Ok(Value::from_safe_string(writer.out))
}

struct Writer<'a, 'b, 'c> {
    state: &'a State<'b, 'c>,
    out: String,
    charged: usize,
    indent: Option<usize>,
    sort_keys: bool,
}

impl Writer<'_, '_, '_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            return Err(Error::new(ErrorKind::InvalidOperation, "tojson: nested more than 64 deep"));
        }
        self.charge()?;
        match value.kind() {
            ValueKind::Undefined | ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => {
                let _ = write!(self.out, "{value}");
            }
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort_keys {
                    keys.sort();
                }
                let empty = keys.is_empty();
                self.out.push('{');
                for (index, key) in keys.iter().enumerate() {
                    self.item(index, depth);
                    match key.as_str() {
                        Some(text) => self.string(text),
                        None => self.string(&key.to_string()),
                    }
                    self.out.push_str(": ");
                    self.value(&value.get_item(key)?, depth + 1)?;
                }
                self.close('}', empty, depth);
            }
            ValueKind::Seq | ValueKind::Iterable => {
                self.out.push('[');
                let mut empty = true;
                for (index, item) in value.try_iter()?.enumerate() {
                    empty = false;
                    self.item(index, depth);
                    self.value(&item, depth + 1)?;
                }
                self.close(']', empty, depth);
            }
            other => {
                return Err(Error::new(ErrorKind::BadSerialization, format!("tojson: {other} has no JSON form")));
            }
        }
        Ok(())
    }

    /// One fuel for each value and for each 16 bytes written, so that a small value that refers to itself many times
    /// over cannot grow without bound.
    fn charge(&mut self) -> Result<(), Error> {
        let grown = self.out.len() - self.charged;
        self.charged = self.out.len();
        self.state.consume_fuel(1 + grown as u64 / 16)
    }

    fn item(&mut self, index: usize, depth: usize) {
        if index > 0 {
            self.out.push_str(if self.indent.is_some() { "," } else { ", " });
        }
        self.new_line(depth + 1);
    }

    fn close(&mut self, bracket: char, empty: bool, depth: usize) {
        if !empty {
            self.new_line(depth);
        }
        self.out.push(bracket);
    }

    fn new_line(&mut self, depth: usize) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                c if (c as u32) < 0x20 => {
                    let _ = write!(self.out, "\\u{:04x}", c as u32);
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}
