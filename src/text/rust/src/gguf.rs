//! A tokenizer rebuilt from GGUF metadata alone.

use ahash::AHashMap;

use tokenizers::models::bpe::BPE;
use tokenizers::normalizers::{Prepend, Replace, Sequence as NormalizerSequence, NFC};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, NormalizerWrapper, PreTokenizerWrapper, SplitDelimiterBehavior};

use crate::byte_level::{byte_level_bytes, byte_token, sentence_piece_bytes};
use crate::failure::{fail, malformed, shown, Code, Outcome};
use crate::gguf_vocabulary::{
    GgufVocabulary, KIND_BYTE, KIND_CONTROL, KIND_UNKNOWN, KIND_USER_DEFINED,
};
use crate::sentence_piece::derive_merges;
use crate::token_table::TokenTable;
use crate::tokenizer::Tokenizer;

pub fn build(vocabulary: &GgufVocabulary) -> Outcome<Tokenizer> {
    check(vocabulary)?;
    let ids = index(vocabulary)?;
    let byte_level = match vocabulary.model {
        "gpt2" => true,
        "llama" => false,
        other => {
            return fail(
                Code::Unsupported,
                format!("tokenizer.ggml.model is \"{}\"; this build knows \"gpt2\" and \"llama\"", shown(other)),
            )
        }
    };
    let table = table(vocabulary, byte_level)?;
    let mut library =
        if byte_level { byte_level_bpe(vocabulary, ids)? } else { sentence_piece_bpe(vocabulary, ids)? };

    let added = |special: bool| {
        let kinds: &[i32] = if special { &[KIND_CONTROL, KIND_UNKNOWN] } else { &[KIND_USER_DEFINED] };
        (0..vocabulary.pieces.len())
            .filter(|&id| kinds.contains(&vocabulary.kind(id)) && !vocabulary.pieces[id].is_empty())
            .map(|id| AddedToken::from(vocabulary.pieces[id], special).normalized(false))
            .collect::<Vec<_>>()
    };
    library.add_special_tokens(added(true)).map_err(|e| malformed(format!("control tokens: {e}")))?;
    library.add_tokens(added(false)).map_err(|e| malformed(format!("user-defined tokens: {e}")))?;
    Ok(Tokenizer::new(library, table))
}

fn check(vocabulary: &GgufVocabulary) -> Outcome<()> {
    let count = vocabulary.pieces.len();
    if count == 0 {
        return Err(malformed("tokenizer.ggml.tokens is empty or absent"));
    }
    if count as u64 > vocabulary.vocabulary as u64 {
        return Err(malformed(format!(
            "tokenizer.ggml.tokens has {count} pieces, but the embedding has {} rows",
            vocabulary.vocabulary
        )));
    }
    if let Some(id) = vocabulary.scores.iter().position(|s| s.is_nan()) {
        return Err(malformed(format!("tokenizer.ggml.scores: the score of token {id} is NaN")));
    }
    if let Some(id) = vocabulary.kinds.iter().position(|k| !(1..=6).contains(k)) {
        return Err(malformed(format!(
            "tokenizer.ggml.token_type: token {id} has kind {}, expected 1 to 6",
            vocabulary.kinds[id]
        )));
    }
    let work: u64 = vocabulary.pieces.iter().fold(0, |sum, p| sum.saturating_add((p.len() as u64).saturating_pow(2)));
    if work > vocabulary.piece_work_max {
        return fail(Code::TooLarge, "tokenizer.ggml.tokens: the pieces are too long");
    }
    Ok(())
}

/// Piece to id. Empty pieces are holes.
fn index<'a>(vocabulary: &GgufVocabulary<'a>) -> Outcome<AHashMap<&'a str, u32>> {
    let mut ids = AHashMap::with_capacity(vocabulary.pieces.len());
    for (id, &piece) in vocabulary.pieces.iter().enumerate() {
        if piece.is_empty() {
            continue;
        }
        if let Some(first) = ids.insert(piece, id as u32) {
            return Err(malformed(format!(
                "tokenizer.ggml.tokens: \"{}\" stands at {first} and again at {id}",
                shown(piece)
            )));
        }
    }
    Ok(ids)
}

fn table(vocabulary: &GgufVocabulary, byte_level: bool) -> Outcome<TokenTable> {
    let mut table = TokenTable::default();
    for (id, &piece) in vocabulary.pieces.iter().enumerate() {
        let kind = vocabulary.kind(id);
        let bytes = match kind {
            KIND_CONTROL | KIND_UNKNOWN => Vec::new(),
            KIND_USER_DEFINED => piece.as_bytes().to_vec(),
            _ if byte_level => byte_level_bytes(piece),
            KIND_BYTE => match byte_token(piece) {
                Some(byte) => vec![byte],
                None => {
                    return Err(malformed(format!(
                        "token {id} is marked as a byte, but \"{}\" is not of the form <0xNN>",
                        shown(piece)
                    )))
                }
            },
            _ => match byte_token(piece) {
                // A file without kinds has only the spelling to go by.
                Some(byte) if vocabulary.kinds.is_empty() => vec![byte],
                _ => sentence_piece_bytes(piece),
            },
        };
        table.push(piece, &bytes, matches!(kind, KIND_CONTROL | KIND_UNKNOWN))?;
    }
    table.pad_to(vocabulary.vocabulary);
    Ok(table)
}

type LibraryVocabulary = AHashMap<String, u32>;

/// In the order of ids, so that pieces that are looked up one after the other lie beside each other.
fn library_vocabulary(vocabulary: &GgufVocabulary) -> LibraryVocabulary {
    let mut made = LibraryVocabulary::with_capacity(vocabulary.pieces.len());
    for (id, piece) in vocabulary.pieces.iter().enumerate() {
        if !piece.is_empty() {
            made.insert(piece.to_string(), id as u32);
        }
    }
    made
}

// Words are cut by this expression; the three families differ only in how many digits go together.
const WORDS_BEFORE_DIGITS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|";
const WORDS_AFTER_DIGITS: &str = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

fn word_split(digits: &str) -> Outcome<PreTokenizerWrapper> {
    let expression = format!("{WORDS_BEFORE_DIGITS}{digits}{WORDS_AFTER_DIGITS}");
    let split = Split::new(SplitPattern::Regex(expression), SplitDelimiterBehavior::Isolated, false)
        .map_err(|e| malformed(format!("pre-tokenizer: {e}")))?;
    Ok(Sequence::new(vec![split.into(), ByteLevel::new(false, true, false).into()]).into())
}

fn byte_level_bpe(vocabulary: &GgufVocabulary, ids: AHashMap<&str, u32>) -> Outcome<tokenizers::Tokenizer> {
    let whole = || ByteLevel::new(false, true, true);
    let pre_tokenizer: PreTokenizerWrapper = match vocabulary.pre {
        "smollm" => Sequence::new(vec![Digits::new(true).into(), whole().into()]).into(),
        "qwen2" => word_split(r"\p{N}")?,
        "llama-bpe" => word_split(r"\p{N}{1,3}")?,
        "gpt-2" | "default" | "" => whole().into(),
        other => {
            return fail(
                Code::Unsupported,
                format!(
                    "tokenizer.ggml.pre is \"{}\"; this build knows smollm, qwen2, llama-bpe, gpt-2 and default",
                    shown(other)
                ),
            )
        }
    };
    let mut merges = Vec::with_capacity(vocabulary.merges.len());
    let mut joined = String::new();
    for (rank, merge) in vocabulary.merges.iter().enumerate() {
        let Some((left, right)) = merge.split_once(' ') else {
            return Err(malformed(format!(
                "tokenizer.ggml.merges: entry {rank} is \"{}\", expected two pieces and a space between",
                shown(merge)
            )));
        };
        joined.clear();
        joined.push_str(left);
        joined.push_str(right);
        for piece in [left, right, joined.as_str()] {
            if !ids.contains_key(piece) {
                return Err(malformed(format!(
                    "tokenizer.ggml.merges: entry {rank} needs the piece \"{}\", which is not in the vocabulary",
                    shown(piece)
                )));
            }
        }
        merges.push((left.to_string(), right.to_string()));
    }
    drop(ids); // before the library makes its own
    let bpe = BPE::builder()
        .vocab_and_merges(library_vocabulary(vocabulary), merges)
        // Llama 3 takes a whole word that is in the vocabulary without looking at merges.
        .ignore_merges(vocabulary.pre == "llama-bpe")
        .build()
        .map_err(|e| malformed(format!("tokenizer.ggml.merges: {e}")))?;
    let mut library = tokenizers::Tokenizer::new(bpe);
    library.with_pre_tokenizer(Some(pre_tokenizer));
    if vocabulary.pre == "qwen2" {
        library.with_normalizer(Some(NormalizerWrapper::from(NFC))).map_err(|e| malformed(e.to_string()))?;
    }
    Ok(library)
}

fn sentence_piece_bpe(vocabulary: &GgufVocabulary, ids: AHashMap<&str, u32>) -> Outcome<tokenizers::Tokenizer> {
    if vocabulary.scores.is_empty() {
        return Err(malformed("tokenizer.ggml.scores is absent, and a \"llama\" tokenizer cannot do without"));
    }
    let merges = derive_merges(vocabulary, &ids)?;
    drop(ids); // before the library makes its own
    let mut builder = BPE::builder()
        .vocab_and_merges(library_vocabulary(vocabulary), merges)
        .byte_fallback(true)
        .fuse_unk(true);
    if let Some(piece) = vocabulary.unknown_id.and_then(|id| vocabulary.pieces.get(id as usize)) {
        if !piece.is_empty() {
            builder = builder.unk_token(piece.to_string());
        }
    }
    let bpe = builder.build().map_err(|e| malformed(format!("merges from tokenizer.ggml.scores: {e}")))?;
    let mut library = tokenizers::Tokenizer::new(bpe);
    let space = Replace::new(" ".to_string(), "\u{2581}").map_err(|e| malformed(e.to_string()))?;
    let mut normalizers: Vec<NormalizerWrapper> = vec![space.into()];
    if vocabulary.add_space_prefix {
        normalizers.insert(0, Prepend::new("\u{2581}".to_string()).into());
    }
    library
        .with_normalizer(Some(NormalizerWrapper::from(NormalizerSequence::new(normalizers))))
        .map_err(|e| malformed(e.to_string()))?;
    Ok(library)
}
