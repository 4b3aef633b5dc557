//! The merges of a SentencePiece vocabulary, which its file leaves out.
//!
//! SentencePiece joins the two neighbours whose joined piece has the best score. A rank-ordered merge list does the
//! same when it holds every split of every normal piece into two known pieces, best score first. Among equal scores
//! the longer left part goes first, then the longer right part, then the order of the vocabulary and of the parts' ids.

use ahash::AHashMap;

use crate::failure::{fail, Code, Outcome};
use crate::gguf::GgufVocabulary;

struct Merge {
    score: f32,
    left_characters: u32,
    right_characters: u32,
    piece: u32,
    left: u32,
    right: u32,
}

pub fn derive_merges(vocabulary: &GgufVocabulary, ids: &AHashMap<&str, u32>) -> Outcome<Vec<(String, String)>> {
    let mut merges: Vec<Merge> = Vec::new();
    for (id, &piece) in vocabulary.pieces.iter().enumerate() {
        if !vocabulary.is_normal(id) {
            continue;
        }
        let characters = piece.chars().count() as u32;
        for (index, (cut, _)) in piece.char_indices().enumerate().skip(1) {
            let (Some(&left), Some(&right)) = (ids.get(&piece[..cut]), ids.get(&piece[cut..])) else { continue };
            merges.push(Merge {
                score: vocabulary.scores[id],
                left_characters: index as u32,
                right_characters: characters - index as u32,
                piece: id as u32,
                left,
                right,
            });
        }
        if merges.len() as u64 > vocabulary.merge_count_max {
            return fail(Code::TooLarge, "tokenizer.ggml.tokens: the pieces split in too many ways");
        }
    }
    merges.sort_unstable_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(b.left_characters.cmp(&a.left_characters))
            .then(b.right_characters.cmp(&a.right_characters))
            .then(a.piece.cmp(&b.piece))
            .then(a.left.cmp(&b.left))
            .then(a.right.cmp(&b.right))
    });
    let text = |id: u32| vocabulary.pieces[id as usize].to_string();
    Ok(merges.iter().map(|m| (text(m.left), text(m.right))).collect())
}
