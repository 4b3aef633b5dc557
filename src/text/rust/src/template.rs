//! A chat template in a bounded interpreter.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, StringInput};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

use crate::allocation_budget::Budget;
use crate::civil_time;
use crate::deep_stack::{self, GaveUp};
use crate::failure::{fail, malformed, shown, Code, Failure, Outcome};
use crate::python_json;
use crate::tag_length;

const NAME: &str = "chat template";

// Loops and macros inside each other. Published templates stay under ten.
const RECURSION_MAX: usize = 64;

// Stack for the deepest value that a unit of fuel can pay for: a level of nesting costs a unit and a half or more, and
// printing, comparing or dropping it takes less than 400 bytes of stack.
const STACK_BYTES_PER_FUEL: usize = 512;

// Stack for the deepest syntax tree that a byte of source can make: "{% elif 1 %}" and unary minus take under 500.
const STACK_BYTES_PER_SOURCE_BYTE: usize = 1024;

// Bytes of code in one tag; see tag_length.rs. Published templates stay under a few hundred.
const TAG_BYTES_MAX: usize = 4096;

// Length of the set of characters that a text is trimmed of. Published templates name one or two.
const TRIMMED_BYTES_MAX: usize = 64;

// Threads that one template may leave behind. More than one, because a machine that slept can make a good one late.
const LEFT_BEHIND_MAX: usize = 4;

pub struct Template {
    environment: Environment<'static>,
    left_behind: AtomicUsize,
}

pub struct Message<'a> {
    pub role: &'a str,
    pub content: &'a str,
    pub extra_json: &'a str,
}

pub struct Request<'a> {
    pub messages: Vec<Message<'a>>,
    pub add_generation_prompt: bool,
    pub bos_token: &'a str,
    pub eos_token: &'a str,
    pub extra_json: &'a str,
    /// Of a prompt template: all that it sees, instead of everything above.
    pub values: Option<Vec<(String, Value)>>,
    pub now_unix_seconds: Option<i64>,
    pub fuel: u64,
    pub output_bytes_max: u64,
    pub memory_bytes_max: u64,
    pub allocations_max: u64,
    pub seconds_max: u64,
}

/// Why a template stopped on purpose; travels as the source of the interpreter's error.
#[derive(Debug)]
enum Stop {
    Raised(String),
    NeedsClock,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Stop::Raised(message) => f.write_str(message),
            Stop::NeedsClock => f.write_str("strftime_now needs a time"),
        }
    }
}

impl std::error::Error for Stop {}

fn stop(reason: Stop) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason.to_string()).with_source(reason)
}

/// Every character of a text is compared with every one that is to be trimmed, without fuel for it.
fn few_trimmed(chars: Option<&str>) -> Result<(), Error> {
    match chars {
        Some(chars) if chars.len() > TRIMMED_BYTES_MAX => {
            Err(Error::new(ErrorKind::InvalidOperation, format!("trimming more than {TRIMMED_BYTES_MAX} bytes")))
        }
        _ => Ok(()),
    }
}

impl Template {
    pub fn new(source: &str) -> Outcome<Template> {
        if tag_length::longest(source) > TAG_BYTES_MAX {
            return fail(Code::TooLarge, format!("chat template: a tag has more than {TAG_BYTES_MAX} bytes of code"));
        }
        deep_stack::run(source.len().saturating_mul(STACK_BYTES_PER_SOURCE_BYTE), || Template::compile(source))
    }

    /// A prompt template: a name that nobody gave a value is an error, not an empty text.
    pub fn strict(source: &str) -> Outcome<Template> {
        let mut template = Template::new(source)?;
        template.environment.set_undefined_behavior(UndefinedBehavior::Strict);
        Ok(template)
    }

    /// The names that it asks for and does not set itself, functions among them, sorted.
    pub fn names_asked_for(&self) -> Outcome<Vec<String>> {
        let template = self.environment.get_template(NAME).map_err(|e| malformed(describe(&e)))?;
        let stack_bytes = template.source().len().saturating_mul(STACK_BYTES_PER_SOURCE_BYTE);
        deep_stack::run(stack_bytes, || {
            let mut names: Vec<String> = template.undeclared_variables(false).into_iter().collect();
            names.sort();
            Ok(names)
        })
    }

    fn compile(source: &str) -> Outcome<Template> {
        let mut environment = Environment::new();
        environment.set_debug(false);
        environment.set_recursion_limit(RECURSION_MAX);
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()
            .map_err(|e| malformed(e.to_string()))?;
        environment.set_syntax(syntax);
        environment.set_unknown_method_callback(|state, value, method, arguments| {
            // A width in a format ("{:>1000000000}") allocates before it is paid for.
            let number = |text: &str| text.as_bytes().windows(4).any(|w| w.iter().all(u8::is_ascii_digit));
            if method == "format" && value.as_str().is_some_and(number) {
                return Err(Error::new(ErrorKind::InvalidOperation, "str.format with a width over 999"));
            }
            if matches!(method, "strip" | "lstrip" | "rstrip") {
                few_trimmed(arguments.first().and_then(Value::as_str))?;
            }
            minijinja_contrib::pycompat::unknown_method_callback(state, value, method, arguments)
        });
        environment.add_filter("trim", |value: StringInput, chars: Option<Cow<str>>| -> Result<Value, Error> {
            few_trimmed(chars.as_deref())?;
            Ok(minijinja::filters::trim(value, chars))
        });
        // Its time is quadratic in the depth of a value, and no chat template prints for people.
        environment.remove_filter("pprint");
        environment.remove_filter("tojson");
        environment.add_filter("tojson", python_json::tojson);
        environment.add_function("raise_exception", |message: Value| -> Result<Value, Error> {
            Err(stop(Stop::Raised(message.to_string())))
        });
        environment.add_template_owned(NAME, source.to_string()).map_err(|e| malformed(at_line(&e, &describe(&e))))?;
        Ok(Template { environment, left_behind: AtomicUsize::new(0) })
    }

    pub fn render(&self, request: &Request) -> Outcome<String> {
        if self.left_behind.load(Ordering::Relaxed) >= LEFT_BEHIND_MAX {
            return fail(Code::TooLarge, "chat template: it had to be given up too often before");
        }
        let environment = self.environment_for(request);
        let context = match &request.values {
            Some(values) => Value::from_pairs(values.clone()),
            None => context(request)?,
        };
        let bytes_max = request.output_bytes_max as usize;
        let bounds = deep_stack::Bounds {
            stack_bytes: (request.fuel as usize).saturating_mul(STACK_BYTES_PER_FUEL),
            budget: Budget { bytes: request.memory_bytes_max as usize, times: request.allocations_max },
            limit: Duration::from_secs(request.seconds_max),
        };
        deep_stack::run_for(&bounds, move || render_here(environment, context, bytes_max)).unwrap_or_else(|gave_up| {
            self.left_behind.fetch_add(1, Ordering::Relaxed);
            let what = match gave_up {
                GaveUp::OutOfBudget => "it needs too much memory, or compares too much".to_string(),
                GaveUp::OutOfTime => format!("it did not end in {} seconds", request.seconds_max),
            };
            fail(Code::TooLarge, format!("chat template: {what}"))
        })
    }

    fn environment_for(&self, request: &Request) -> Environment<'static> {
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(request.fuel));
        let now = request.now_unix_seconds;
        environment.add_function("strftime_now", move |pattern: String, _: Rest<Value>| -> Result<String, Error> {
            let Some(seconds) = now else { return Err(stop(Stop::NeedsClock)) };
            civil_time::format(seconds, &pattern).ok_or_else(|| {
                Error::new(ErrorKind::InvalidOperation, format!("strftime_now: format \"{}\"", shown(&pattern)))
            })
        });
        environment
    }
}

fn render_here(environment: Environment<'static>, context: Value, bytes_max: usize) -> Outcome<String> {
    let template = environment.get_template(NAME).map_err(|e| malformed(describe(&e)))?;
    let mut output = BoundedOutput { bytes: Vec::new(), bytes_max };
    if let Err(error) = template.render_captured_to(context, &mut output) {
        return Err(failure(&error));
    }
    String::from_utf8(output.bytes).map_err(|_| malformed("the rendered text is not UTF-8"))
}

fn context(request: &Request) -> Outcome<Value> {
    let message = |m: &Message| -> Outcome<Value> {
        let mut members: Vec<(String, Value)> =
            vec![("role".into(), Value::from(m.role)), ("content".into(), Value::from(m.content))];
        if !m.extra_json.is_empty() {
            let extra: BTreeMap<String, Value> = serde_json::from_str(m.extra_json)
                .map_err(|e| Failure { code: Code::InvalidArgument, message: format!("a message's members: {e}") })?;
            members.retain(|(known, _)| !extra.contains_key(known));
            members.extend(extra);
        }
        Ok(Value::from_pairs(members))
    };
    let mut variables: Vec<(String, Value)> = vec![
        // Templates ask "tools is not none", so absent means none, not undefined.
        ("tools".into(), Value::from(())),
        ("documents".into(), Value::from(())),
        ("bos_token".into(), Value::from(request.bos_token)),
        ("eos_token".into(), Value::from(request.eos_token)),
        ("add_generation_prompt".into(), Value::from(request.add_generation_prompt)),
    ];
    if !request.extra_json.is_empty() {
        let extra: BTreeMap<String, Value> = serde_json::from_str(request.extra_json)
            .map_err(|e| Failure { code: Code::InvalidArgument, message: format!("template variables: {e}") })?;
        for (name, value) in extra {
            if matches!(name.as_str(), "messages" | "add_generation_prompt" | "bos_token" | "eos_token") {
                return fail(Code::InvalidArgument, format!("template variables: \"{name}\" is set by other means"));
            }
            variables.retain(|(known, _)| *known != name);
            variables.push((name, value));
        }
    }
    variables.push(("messages".into(), request.messages.iter().map(message).collect::<Outcome<Vec<Value>>>()?.into()));
    Ok(Value::from_pairs(variables))
}

struct BoundedOutput {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl io::Write for BoundedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.bytes_max - self.bytes.len() {
            return Err(io::Error::other("the output bound is reached"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failure(error: &Error) -> Failure {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = source {
        match cause.downcast_ref::<Stop>() {
            Some(Stop::Raised(message)) => {
                let message = format!("the chat template refuses: {}", cut(message));
                return Failure { code: Code::InvalidArgument, message };
            }
            Some(Stop::NeedsClock) => {
                let message = "the chat template asks for the time (strftime_now), and none was given".to_string();
                return Failure { code: Code::Unsupported, message };
            }
            None => {}
        }
        if let Some(inner) = cause.downcast_ref::<Error>() {
            let bound = match inner.kind() {
                ErrorKind::OutOfFuel => Some("it runs too long or makes too much text"),
                ErrorKind::WriteFailure => Some("its output is too long"),
                _ if inner.detail().is_some_and(|d| d.contains("recursion limit")) => Some("it nests too deep"),
                _ => None,
            };
            if let Some(bound) = bound {
                return Failure { code: Code::TooLarge, message: at_line(error, bound) };
            }
        }
        source = cause.source();
    }
    malformed(at_line(error, &describe(error)))
}

fn cut(text: &str) -> String {
    text.chars().take(500).collect()
}

fn describe(error: &Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {}", error.kind(), cut(detail)),
        None => error.kind().to_string(),
    }
}

fn at_line(error: &Error, what: &str) -> String {
    match error.line() {
        Some(line) => format!("chat template, line {line}: {what}"),
        None => format!("chat template: {what}"),
    }
}
