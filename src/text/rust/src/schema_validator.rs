//! Looks at a whole answer: does it satisfy its schema, the parts that a grammar cannot say included?
//!
//! Nothing is fetched (references stay within the schema, schema_check.rs) and patterns run in linear time.

use std::collections::BTreeMap;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::failure::{Code, Outcome};
use crate::schema_check::{at, shown_long};

// Schemas that stand for one once every reference is followed. A validator follows them all for every value of an answer,
// so a document that doubles itself sixty times, or that is applied twice to each part of a part, would take for ever.
const EXPANDED_MAX: u64 = 100_000;
// And levels of it: the validator calls itself for each.
const DEPTH_MAX: u64 = 256;

pub struct SchemaValidator {
    validator: Validator,
}

impl SchemaValidator {
    pub fn new(schema: &Value) -> Outcome<SchemaValidator> {
        match expand(schema, schema, &mut BTreeMap::new()) {
            Some(expanded) if expanded.size <= EXPANDED_MAX && expanded.depth <= DEPTH_MAX => {}
            Some(_) => return Err(at("", Code::TooLarge, "its references make it too large to validate an answer with")),
            None => return Err(at("", Code::Unsupported, "a schema that refers to itself cannot be validated here")),
        }
        let options = jsonschema::options().with_pattern_options(PatternOptions::regex()).should_validate_formats(true);
        match options.build(schema) {
            Ok(validator) => Ok(SchemaValidator { validator }),
            Err(error) => {
                let message = format!("no validator can be made of it: {}", shown_long(&error.to_string()));
                Err(at(&error.instance_path().to_string(), Code::Unsupported, &message))
            }
        }
    }

    /// Empty where the answer is valid.
    pub fn complaint(&self, answer: &str) -> String {
        let value: Value = match serde_json::from_str(answer) {
            Ok(value) => value,
            Err(error) => return format!("it is not JSON: {error}"),
        };
        match self.validator.validate(&value) {
            Ok(()) => String::new(),
            Err(error) => {
                let place = error.instance_path().to_string();
                format!("{}: {}", if place.is_empty() { "/" } else { &place }, shown_long(&error.to_string()))
            }
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Expanded {
    size: u64,
    depth: u64,
}

impl Expanded {
    fn add(&mut self, inner: Expanded) {
        self.size = self.size.saturating_add(inner.size);
        self.depth = self.depth.max(inner.depth + 1);
    }
}

/// None: a reference leads back to itself.
fn expand(root: &Value, value: &Value, known: &mut BTreeMap<String, Option<Expanded>>) -> Option<Expanded> {
    let mut sum = Expanded::default();
    match value {
        Value::Array(values) => {
            for inner in values {
                sum.add(expand(root, inner, known)?);
            }
        }
        Value::Object(object) => {
            sum.size = 1;
            for (key, inner) in object {
                match inner.as_str() {
                    Some(reference) if key == "$ref" => sum.add(expand_reference(root, reference, known)?),
                    _ => sum.add(expand(root, inner, known)?),
                }
            }
        }
        _ => {}
    }
    Some(sum)
}

fn expand_reference(
    root: &Value,
    reference: &str,
    known: &mut BTreeMap<String, Option<Expanded>>,
) -> Option<Expanded> {
    if let Some(expanded) = known.get(reference) {
        return *expanded;
    }
    known.insert(reference.to_string(), None);
    let place = reference.trim_start_matches('#').trim_end_matches('/');
    let expanded = expand(root, root.pointer(place)?, known)?;
    known.insert(reference.to_string(), Some(expanded));
    Some(expanded)
}
