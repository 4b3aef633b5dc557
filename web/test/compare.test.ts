import assert from 'node:assert/strict';
import test from 'node:test';

import { compare } from '../src/compare';
import type { Token } from '../src/tokens';

const token = (id: number, logprob = -1, margin: number | null = 2): Token => ({
  id,
  name: `t${id}`,
  shown: `t${id}`,
  isControl: false,
  logprob,
  margin,
  candidates: [],
});
const answer = (tokens: Token[], promptIds = [1, 2]) => ({ promptIds, tokens, finishReason: 'stop' });

test('equal answers are equal', () => {
  assert.deepEqual(compare(answer([token(1), token(2)]), answer([token(1), token(2)])), { kind: 'equal', count: 2 });
});

test('the first token that differs is found', () => {
  const verdict = compare(answer([token(1), token(2), token(3)]), answer([token(1), token(5), token(6)]));
  assert.deepEqual(verdict, { kind: 'tokens-differ', at: 1 });
});

test('one last bit of a number is a difference', () => {
  assert.deepEqual(compare(answer([token(1, -1)]), answer([token(1, -1.0000001)])), { kind: 'bits-differ', at: 0 });
  assert.deepEqual(compare(answer([token(1, -1, 0)]), answer([token(1, -1, -0)])), { kind: 'bits-differ', at: 0 });
});

test('an answer that ends earlier is named', () => {
  assert.deepEqual(compare(answer([token(1)]), answer([token(1), token(2)])), { kind: 'one-ends', at: 1, ends: 'A' });
  assert.deepEqual(compare(answer([token(1), token(2)]), answer([])), { kind: 'one-ends', at: 0, ends: 'B' });
});

test('answers to different prompts are not compared', () => {
  assert.deepEqual(compare(answer([token(1)]), answer([token(1)], [1, 3])), { kind: 'prompts-differ' });
});
