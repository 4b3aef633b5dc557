//! What of a JSON schema the grammar enforces, what only a validator can, and what neither does.
//!
//! A schema comes from a stranger. Everything that is not known here is refused with its place (a JSON pointer), and so is
//! what would make the grammar's builder work out of proportion to the schema's size: it intersects alternatives with
//! each other, compares patterns pair by pair and repeats items.

use std::collections::BTreeMap;

use llguidance::derivre::RegexBuilder;
use serde_json::{Map, Value};

use crate::failure::{shown, Code, Failure, Outcome};

/// Enforced token by token.
const ENFORCED: [&str; 27] = [
    "$ref", "additionalItems", "additionalProperties", "allOf", "anyOf", "const", "enum", "exclusiveMaximum",
    "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength",
    "minProperties", "minimum", "multipleOf", "oneOf", "pattern", "patternProperties", "prefixItems", "properties",
    "required", "type",
];

/// Say something about a schema and forbid no value.
const ANNOTATIONS: [&str; 22] = [
    "$anchor", "$comment", "$defs", "$dynamicAnchor", "$schema", "contentEncoding", "contentMediaType", "contentSchema", "default", "definitions",
    "deprecated", "description", "discriminator", "example", "examples", "externalDocs", "markdownDescription",
    "readOnly", "title", "writeOnly", "xml", "$vocabulary",
];

/// Beyond a grammar: looked at when the answer is there.
const VALIDATED: [&str; 14] = [
    "contains", "dependencies", "dependentRequired", "dependentSchemas", "else", "if", "maxContains", "minContains",
    "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
];

const FORMATS: [&str; 10] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"];

const DRAFTS: [&str; 5] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-04/schema",
];

// Schemas inside a schema, and names that are required; 5000 properties are also OpenAI's bound. The grammar's builder
// takes time in the square of one object's properties: 70 ms for 1000, 4 s for 8000.
const NODES_MAX: usize = 5000;
const PROPERTIES_MAX: usize = 1000;
// Options that are multiplied with each other where several of allOf, anyOf, oneOf, enum and $ref stand side by side.
const PRODUCT_MAX: u64 = 4096;
// The same times the bytes of that schema: each option gets a copy.
const PRODUCT_BYTES_MAX: u64 = 8 << 20;
// Patterns of one object are compared pair by pair, each pair with its own automaton.
const PATTERN_PROPERTIES_MAX: usize = 16;
// Options of oneOf are compared pair by pair.
const ONE_OF_MAX: usize = 128;
// Fuel to read one pattern.
const PATTERN_BYTES_MAX: usize = 4096;
const COUNT_MAX: u64 = 100_000;

pub struct Checked {
    /// Without the keywords that only a validator enforces.
    pub for_grammar: Value,
    /// The first keyword that only a validator enforces.
    pub validated: Option<String>,
}

/// A failure's message begins with the place as a JSON pointer and a line end.
pub fn at(place: &str, code: Code, message: &str) -> Failure {
    Failure { code, message: format!("{place}\n{message}") }
}

pub fn check(schema: &Value) -> Outcome<Checked> {
    check_draft(schema)?;
    if let Err(error) = jsonschema::meta::validate(schema) {
        let message = shown_long(&error.to_string());
        return Err(at(&error.instance_path().to_string(), Code::Malformed, &message));
    }
    let mut walk = Walk { root: schema, nodes: 0, validated: None, weights: BTreeMap::new() };
    let for_grammar = walk.schema(schema, "")?;
    Ok(Checked { for_grammar, validated: walk.validated })
}

fn check_draft(schema: &Value) -> Outcome<()> {
    let Some(draft) = schema.get("$schema") else { return Ok(()) };
    if draft.as_str().is_some_and(|d| DRAFTS.contains(&d.trim_end_matches('#'))) {
        return Ok(());
    }
    Err(at("/$schema", Code::Unsupported, "expected a draft of JSON Schema from 4 to 2020-12"))
}

struct Walk<'a> {
    root: &'a Value,
    nodes: usize,
    validated: Option<String>,
    /// How many options a schema becomes, by its reference. None: being counted.
    weights: BTreeMap<String, Option<u64>>,
}

impl Walk<'_> {
    fn count(&mut self, nodes: usize, place: &str) -> Outcome<()> {
        self.nodes += nodes;
        if self.nodes > NODES_MAX {
            return Err(at(place, Code::TooLarge, &format!("more than {NODES_MAX} schemas in one")));
        }
        Ok(())
    }

    fn schema(&mut self, schema: &Value, place: &str) -> Outcome<Value> {
        self.count(1, place)?;
        let Some(object) = schema.as_object() else { return Ok(schema.clone()) };
        let mut kept = Map::new();
        for (key, value) in object {
            let here = format!("{place}/{}", escaped(key));
            if ENFORCED.contains(&key.as_str()) {
                kept.insert(key.clone(), self.enforced(key, value, &here)?);
            } else if ANNOTATIONS.contains(&key.as_str()) {
                if matches!(key.as_str(), "$defs" | "definitions") {
                    kept.insert(key.clone(), self.map(value, &here)?);
                } else if key == "$schema" {
                    kept.insert(key.clone(), value.clone());
                }
            } else if VALIDATED.contains(&key.as_str()) {
                if !says_nothing(key, value) && self.validated.is_none() {
                    self.validated = Some(here);
                }
            } else if matches!(key.as_str(), "$id" | "id") && place.is_empty() {
                // It names the whole and moves no reference that is taken here.
            } else if !(key.starts_with("x-") && key != "x-guidance") {
                return Err(at(&here, Code::Unsupported, &format!("the keyword \"{}\" is not supported", shown(key))));
            }
        }
        self.weight(object, place)?;
        Ok(Value::Object(kept))
    }

    fn enforced(&mut self, key: &str, value: &Value, here: &str) -> Outcome<Value> {
        match key {
            "properties" => {
                few(value.as_object().map_or(0, Map::len), here)?;
                self.map(value, here)
            }
            "required" => {
                let count = value.as_array().map_or(0, Vec::len);
                few(count, here)?;
                self.count(count, here)?;
                Ok(value.clone())
            }
            "patternProperties" => {
                let count = value.as_object().map_or(0, Map::len);
                if count > PATTERN_PROPERTIES_MAX {
                    let most = format!("{count} patterns, at most {PATTERN_PROPERTIES_MAX} are taken");
                    return Err(at(here, Code::TooLarge, &most));
                }
                for pattern in value.as_object().into_iter().flat_map(Map::keys) {
                    check_pattern(pattern, &format!("{here}/{}", escaped(pattern)))?;
                }
                self.map(value, here)
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                if key == "oneOf" && value.as_array().is_some_and(|o| o.len() > ONE_OF_MAX) {
                    return Err(at(here, Code::TooLarge, &format!("more than {ONE_OF_MAX} options")));
                }
                self.list(value, here)
            }
            "items" | "additionalItems" if value.is_array() => self.list(value, here),
            "items" | "additionalItems" | "additionalProperties" => self.schema(value, here),
            "$ref" => {
                self.target(value, here)?;
                Ok(value.clone())
            }
            "format" => match value.as_str() {
                Some(name) if FORMATS.contains(&name) => Ok(value.clone()),
                _ => Err(at(here, Code::Unsupported, &format!("expected one of {}", FORMATS.join(", ")))),
            },
            "pattern" => check_pattern(value.as_str().unwrap_or_default(), here).map(|()| value.clone()),
            "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minLength" | "maxLength" => {
                match value.as_f64() {
                    Some(count) if count <= COUNT_MAX as f64 => Ok(value.clone()),
                    _ => Err(at(here, Code::TooLarge, &format!("at most {COUNT_MAX} is taken"))),
                }
            }
            _ => Ok(value.clone()),
        }
    }

    fn map(&mut self, value: &Value, here: &str) -> Outcome<Value> {
        let mut kept = Map::new();
        for (name, schema) in value.as_object().into_iter().flatten() {
            kept.insert(name.clone(), self.schema(schema, &format!("{here}/{}", escaped(name)))?);
        }
        Ok(Value::Object(kept))
    }

    fn list(&mut self, value: &Value, here: &str) -> Outcome<Value> {
        let schemas = value.as_array().into_iter().flatten().enumerate();
        schemas.map(|(i, schema)| self.schema(schema, &format!("{here}/{i}"))).collect::<Outcome<Vec<_>>>().map(Value::from)
    }

    /// Nothing is fetched: a reference stays within its document.
    fn target(&self, reference: &Value, here: &str) -> Outcome<&Value> {
        let text = reference.as_str().unwrap_or_default();
        let found = match text {
            "#" | "#/" => Some(self.root),
            _ if text.starts_with("#/") && !text.contains(['~', '%']) => self.root.pointer(&text[1..]),
            _ => None,
        };
        found.filter(|schema| schema.is_object() || schema.is_boolean()).ok_or_else(|| {
            let expected = "expected a place within this document that holds a schema (\"#/$defs/name\"); nothing is fetched";
            at(here, Code::Unsupported, expected)
        })
    }

    /// How many options stand for this schema after everything in it was intersected.
    fn weight(&mut self, object: &Map<String, Value>, place: &str) -> Outcome<u64> {
        let mut factors: Vec<u64> = Vec::new();
        for (key, value) in object {
            let here = format!("{place}/{}", escaped(key));
            let options = value.as_array().map(Vec::as_slice).unwrap_or_default();
            match key.as_str() {
                "enum" => factors.push(options.len() as u64),
                "anyOf" | "oneOf" => {
                    let mut sum: u64 = 0;
                    for option in options {
                        sum = sum.saturating_add(self.weight_of(option, &here)?);
                    }
                    factors.push(sum);
                }
                "allOf" => {
                    for option in options {
                        factors.push(self.weight_of(option, &here)?);
                    }
                }
                "$ref" => factors.push(self.weight_of_reference(value, &here)?),
                _ => {}
            }
        }
        let product = factors.iter().fold(1, |product: u64, &factor| product.saturating_mul(factor.max(1)));
        if factors.iter().filter(|&&factor| factor > 1).count() > 1 {
            let bytes = Value::Object(object.clone()).to_string().len() as u64;
            if product > PRODUCT_MAX || product.saturating_mul(bytes) > PRODUCT_BYTES_MAX {
                return Err(at(place, Code::TooLarge, &format!("its alternatives make {product} together")));
            }
        }
        Ok(product)
    }

    fn weight_of(&mut self, schema: &Value, place: &str) -> Outcome<u64> {
        schema.as_object().map_or(Ok(1), |object| self.weight(object, place))
    }

    fn weight_of_reference(&mut self, reference: &Value, here: &str) -> Outcome<u64> {
        let name = reference.as_str().unwrap_or_default().to_string();
        match self.weights.get(&name) {
            Some(Some(weight)) => return Ok(*weight),
            Some(None) => return Err(at(here, Code::Unsupported, "the reference leads back to itself")),
            None => {}
        }
        self.weights.insert(name.clone(), None);
        let target = self.target(reference, here)?.clone();
        let place = name.trim_start_matches('#').trim_end_matches('/').to_string();
        let weight = self.weight_of(&target, &place)?;
        self.weights.insert(name, Some(weight));
        Ok(weight)
    }
}

fn few(properties: usize, here: &str) -> Outcome<()> {
    if properties > PROPERTIES_MAX {
        return Err(at(here, Code::TooLarge, &format!("{properties} properties, at most {PROPERTIES_MAX} are taken")));
    }
    Ok(())
}

/// Values that forbid nothing.
fn says_nothing(key: &str, value: &Value) -> bool {
    match key {
        "uniqueItems" => value == &Value::Bool(false),
        "propertyNames" | "unevaluatedItems" | "unevaluatedProperties" => {
            value == &Value::Bool(true) || value.as_object().is_some_and(Map::is_empty)
        }
        _ => false,
    }
}

fn check_pattern(pattern: &str, here: &str) -> Outcome<()> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(at(here, Code::TooLarge, &format!("a pattern of more than {PATTERN_BYTES_MAX} bytes")));
    }
    let regex = llguidance::regex_to_lark(pattern, "dw");
    match RegexBuilder::new().mk_regex_for_serach(&regex) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = format!("the pattern is not supported: {}", shown_long(&error.to_string()));
            Err(at(here, Code::Unsupported, &message))
        }
    }
}

fn escaped(key: &str) -> String {
    shown(key).replace('~', "~0").replace('/', "~1")
}

/// A library's message, on one line and cut.
pub fn shown_long(text: &str) -> String {
    let line: String = text.chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.trim().to_string()
}
