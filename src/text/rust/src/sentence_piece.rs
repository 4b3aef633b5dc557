//! The merges of a SentencePiece vocabulary, which its file leaves out.
//!
//! SentencePiece joins the two neighbours whose joined piece has the best score. A rank-ordered merge list does the
//! same when it holds every split of every normal piece into two known pieces, best score first. Among equal scores
//! the longer left part goes first, then the longer right part, then the order of the vocabulary and of the parts' ids.

use std::ops::Range;

use ahash::AHashMap;

use crate::failure::{fail, Code, Outcome};
use crate::gguf_vocabulary::GgufVocabulary;

struct Merge {
    score: f32,
    left_characters: u32,
    right_characters: u32,
    piece: u32,
    left: u32,
    right: u32,
}

/// Threads that look for splits: a vocabulary of 262,144 pieces needs millions of look-ups in a table that no cache holds.
const THREADS_MAX: usize = 4;
/// Fewer pieces are not worth a thread.
const PIECES_PER_THREAD_MIN: usize = 1 << 15;

type Ids<'a> = AHashMap<&'a str, u32>;

fn too_many<T>() -> Outcome<T> {
    fail(Code::TooLarge, "tokenizer.ggml.tokens: the pieces split in too many ways")
}

/// The splits of some pieces.
fn splits(vocabulary: &GgufVocabulary, ids: &Ids, pieces: Range<usize>) -> Outcome<Vec<Merge>> {
    let mut merges: Vec<Merge> = Vec::new();
    for id in pieces {
        if !vocabulary.is_normal(id) {
            continue;
        }
        let piece = vocabulary.pieces[id];
        let characters = piece.chars().count() as u32;
        for (index, (cut, _)) in piece.char_indices().enumerate() {
            if cut == 0 {
                continue;  // an empty left part is no split
            }
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
            return too_many();
        }
    }
    Ok(merges)
}

/// The splits of all pieces, in no order that anything may depend on.
fn all_splits(vocabulary: &GgufVocabulary, ids: &Ids) -> Outcome<Vec<Merge>> {
    let count = vocabulary.pieces.len();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = (count / PIECES_PER_THREAD_MIN).clamp(1, THREADS_MAX.min(cores));
    let part = |index: usize| count * index / threads..count * (index + 1) / threads;
    let mut merges = std::thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).map(|index| scope.spawn(move || splits(vocabulary, ids, part(index)))).collect();
        let mut merges = splits(vocabulary, ids, part(0))?;
        for other in others {
            merges.append(&mut other.join().expect("a thread that looked for splits ended early")?);
        }
        Ok(merges)
    })?;
    if merges.len() as u64 > vocabulary.merge_count_max {
        return too_many();
    }
    merges.shrink_to_fit();
    Ok(merges)
}

pub fn derive_merges(vocabulary: &GgufVocabulary, ids: &Ids) -> Outcome<Vec<(String, String)>> {
    let mut merges = all_splits(vocabulary, ids)?;
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
