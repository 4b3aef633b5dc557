/* Grammars of the Rust crate. Only src/text includes it; what is said in samebit_text.h holds here.
 *
 * A factory and a grammar are immutable and may be used from any thread; a state from one at a time. The message of a
 * failure that is about a schema begins with a line of its index among the schemas and the place in it as a JSON pointer
 * ("0/properties/a"). */
#ifndef SAMEBIT_GRAMMAR_H_
#define SAMEBIT_GRAMMAR_H_

#include "text/rust/samebit_text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SamebitGrammarFactory SamebitGrammarFactory;
typedef struct SamebitGrammar SamebitGrammar;
typedef struct SamebitGrammarState SamebitGrammarState;

/* Counts, never time: base/limits.h. */
typedef struct {
  uint64_t grammar_items;
  uint64_t build_fuel;
  uint64_t step_fuel;
  uint64_t step_items;
  uint64_t row_items;
  uint64_t lexer_states;
} SamebitGrammarLimits;

/* Token i has the bytes [byte_ends[i - 1], byte_ends[i]), with byte_ends[-1] = 0; none: no grammar lets it through. */
SamebitTextCode samebit_grammar_factory_make(const char* token_bytes, const uint32_t* byte_ends, uint32_t count,
                                             const SamebitGrammarLimits* limits, SamebitGrammarFactory** made,
                                             SamebitString* message);
void samebit_grammar_factory_free(SamebitGrammarFactory* factory);

typedef struct {
  SamebitSlice lark; /* names the schemas @schema0, @schema1, ...; empty: the one schema is the grammar */
  const SamebitSlice* schemas;
  size_t schema_count;
  uint32_t validates; /* 1: keywords beyond a grammar are taken, and samebit_grammar_complaint looks at them */
} SamebitGrammarInput;

SamebitTextCode samebit_grammar_make(const SamebitGrammarFactory* factory, const SamebitGrammarInput* input,
                                     SamebitGrammar** made, SamebitString* message);
/* What is wrong with a whole answer; "" where nothing is. */
SamebitTextCode samebit_grammar_complaint(const SamebitGrammar* grammar, SamebitSlice answer, SamebitString* complaint,
                                          SamebitString* message);
void samebit_grammar_free(SamebitGrammar* grammar);

SamebitTextCode samebit_grammar_start(const SamebitGrammar* grammar, SamebitGrammarState** made, SamebitString* message);
SamebitTextCode samebit_grammar_state_copy(const SamebitGrammarState* state, SamebitGrammarState** made,
                                           SamebitString* message);
/* words: a bit per token, 32 of them in each, lowest first. may_end: 1 where the answer may end here. */
SamebitTextCode samebit_grammar_state_mask(SamebitGrammarState* state, uint32_t* words, size_t word_count,
                                           uint32_t* may_end, SamebitString* message);
/* complete: 1 where nothing may follow. */
SamebitTextCode samebit_grammar_state_commit(SamebitGrammarState* state, uint32_t id, uint32_t* complete,
                                             SamebitString* message);
void samebit_grammar_state_free(SamebitGrammarState* state);

#ifdef __cplusplus
}
#endif

#endif /* SAMEBIT_GRAMMAR_H_ */
