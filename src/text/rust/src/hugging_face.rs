//! A tokenizer from a Hugging Face tokenizer.json, taken as it is.

use serde::Deserialize;
use serde_json::Value;
use tokenizers::models::bpe::BPE;
use tokenizers::{Model, ModelWrapper};

use crate::byte_level::{byte_level_bytes, byte_token, sentence_piece_bytes};
use crate::failure::{fail, malformed, shown, Code, Outcome};
use crate::token_table::TokenTable;
use crate::tokenizer::Tokenizer;

#[derive(Deserialize)]
struct Declared {
    id: u32,
    content: String,
}

#[derive(Deserialize)]
struct Declarations {
    #[serde(default)]
    added_tokens: Vec<Declared>,
}

pub fn build(json: &[u8], vocabulary: u32) -> Outcome<Tokenizer> {
    let json = std::str::from_utf8(json)
        .map_err(|e| malformed(format!("tokenizer.json is not UTF-8: invalid at byte {}", e.valid_up_to())))?;
    let declarations: Declarations =
        serde_json::from_str(json).map_err(|e| malformed(format!("tokenizer.json: {e}")))?;
    // The library panics on some files that are JSON but no tokenizer.
    let parsed = std::panic::catch_unwind(|| json.parse::<tokenizers::Tokenizer>());
    let mut library = match parsed {
        Ok(parsed) => parsed.map_err(|e| malformed(format!("tokenizer.json: {e}")))?,
        Err(_) => return Err(malformed("tokenizer.json: not a tokenizer that the library can read")),
    };
    match library.get_model() {
        ModelWrapper::BPE(bpe) => {
            if bpe.dropout.is_some() {
                // Dropout is a training aid that draws random numbers: the same text would give other ids each time.
                let mut fixed: BPE = bpe.clone();
                fixed.dropout = None;
                library.with_model(fixed);
            }
        }
        ModelWrapper::WordPiece(pieces) => {
            // Without it the library refuses each text that holds an unknown word, and not the file.
            if pieces.token_to_id(&pieces.unk_token).is_none() {
                return Err(malformed(format!(
                    "tokenizer.json: the unknown token \"{}\" is not in the vocabulary",
                    shown(&pieces.unk_token)
                )));
            }
        }
        _ => {
            return fail(
                Code::Unsupported,
                "tokenizer.json: model.type is neither BPE nor WordPiece, the kinds that this build knows",
            )
        }
    }
    check_declared_ids(declarations, &library)?;
    let spelling = spelling(&library)?;
    let table = table(&library, spelling, vocabulary)?;
    Ok(Tokenizer::new(library, table))
}

/// The library gives an added token the next free id whatever the file says; a file that disagrees is refused.
fn check_declared_ids(declarations: Declarations, library: &tokenizers::Tokenizer) -> Outcome<()> {
    for token in declarations.added_tokens {
        if token.content.is_empty() {
            continue;
        }
        match library.token_to_id(&token.content) {
            Some(id) if id == token.id => {}
            found => {
                return Err(malformed(format!(
                    "tokenizer.json: added token \"{}\" is declared as {}, but its place is {}",
                    shown(&token.content),
                    token.id,
                    found.map_or("nowhere".to_string(), |id| id.to_string())
                )))
            }
        }
    }
    Ok(())
}

/// How the pieces of the model's vocabulary spell their bytes.
#[derive(Clone, Copy)]
enum Spelling {
    ByteLevel,
    SentencePiece { byte_fallback: bool },
    /// A piece that goes on with a word begins with "##"; any other begins a word, after a space. Case and some spaces
    /// were lost before, so that text from ids is for people only.
    WordPiece,
}

const WORD_GOES_ON: &str = "##";

fn word_piece_bytes(piece: &str) -> Vec<u8> {
    match piece.strip_prefix(WORD_GOES_ON) {
        Some(rest) if !rest.is_empty() => rest.as_bytes().to_vec(),
        _ => format!(" {piece}").into_bytes(),
    }
}

fn spelling(library: &tokenizers::Tokenizer) -> Outcome<Spelling> {
    if let ModelWrapper::WordPiece(pieces) = library.get_model() {
        return match pieces.continuing_subword_prefix.as_str() {
            WORD_GOES_ON => Ok(Spelling::WordPiece),
            other => fail(
                Code::Unsupported,
                format!("tokenizer.json: continuing_subword_prefix is \"{}\", not \"##\"", shown(other)),
            ),
        };
    }
    let decoder = serde_json::to_value(library.get_decoder())
        .map_err(|e| malformed(format!("tokenizer.json: decoder: {e}")))?;
    let steps: Vec<Value> = match decoder.get("decoders") {
        Some(Value::Array(steps)) => steps.clone(),
        _ => vec![decoder],
    };
    let mut byte_level = false;
    let mut space = false;
    let mut byte_fallback = false;
    for step in &steps {
        let kind = step.get("type").and_then(Value::as_str).unwrap_or("null");
        match kind {
            "ByteLevel" => byte_level = true,
            "ByteFallback" => byte_fallback = true,
            "Metaspace" if step.get("replacement").and_then(Value::as_str) == Some("\u{2581}") => space = true,
            "Replace"
                if step.pointer("/pattern/String").and_then(Value::as_str) == Some("\u{2581}")
                    && step.get("content").and_then(Value::as_str) == Some(" ") =>
            {
                space = true
            }
            // Fuse joins; Strip only takes the first space of a whole text, which a single token cannot know.
            "Fuse" | "Strip" => {}
            other => {
                return fail(
                    Code::Unsupported,
                    format!("tokenizer.json: decoder step {} is not one that this build knows", shown(other)),
                )
            }
        }
    }
    match (byte_level, space || byte_fallback) {
        (true, false) => Ok(Spelling::ByteLevel),
        (false, true) => Ok(Spelling::SentencePiece { byte_fallback }),
        _ => fail(Code::Unsupported, "tokenizer.json: the decoder is neither byte-level nor SentencePiece"),
    }
}

fn table(library: &tokenizers::Tokenizer, spelling: Spelling, vocabulary: u32) -> Outcome<TokenTable> {
    let mut pieces: Vec<Option<String>> = vec![None; vocabulary as usize];
    for (piece, id) in library.get_model().get_vocab() {
        // Ids beyond the embedding exist in published files (a vision token of a text model). Encode refuses them.
        let Some(slot) = pieces.get_mut(id as usize) else { continue };
        if let Some(first) = slot {
            let (low, high) = if *first < piece { (&*first, &piece) } else { (&piece, &*first) };
            return Err(malformed(format!(
                "tokenizer.json: \"{}\" and \"{}\" have the same id {id}",
                shown(low),
                shown(high)
            )));
        }
        *slot = Some(piece);
    }
    let added = library.get_added_tokens_decoder();
    let mut table = TokenTable::default();
    for id in 0..vocabulary {
        let (piece, bytes, control) = match (added.get(&id), &pieces[id as usize]) {
            (Some(token), _) if token.special => (token.content.as_str(), Vec::new(), true),
            (Some(token), _) => (token.content.as_str(), token.content.as_bytes().to_vec(), false),
            (None, Some(piece)) => {
                let bytes = match (spelling, byte_token(piece)) {
                    (Spelling::ByteLevel, _) => byte_level_bytes(piece),
                    (Spelling::WordPiece, _) => word_piece_bytes(piece),
                    (Spelling::SentencePiece { byte_fallback: true }, Some(byte)) => vec![byte],
                    _ => sentence_piece_bytes(piece),
                };
                (piece.as_str(), bytes, false)
            }
            (None, None) => ("", Vec::new(), false),
        };
        table.push(piece, &bytes, control)?;
    }
    if library.get_vocab_size(true) == 0 {
        return Err(malformed("tokenizer.json: the vocabulary is empty"));
    }
    Ok(table)
}
