import assert from 'node:assert/strict';
import test from 'node:test';

import { bodyOf, loadOf } from '../src/server';

test('three numbers are read out of the metrics', () => {
  const text = '# HELP samebit:num_requests_running x\nsamebit:num_requests_running 3\nsamebit:num_requests_waiting 12\n' +
    'samebit:engine_rows_total 456\n';
  assert.deepEqual(loadOf(text), { running: 3, waiting: 12, rows: 456 });
});

test('a seed of 64 bits stays whole, and none stays none', () => {
  const question = { system: '', prompt: 'x', temperature: 0, tokensMax: 4 };
  assert.equal((bodyOf({ ...question, seed: '18446744073709551615' }) as { seed: string }).seed, '18446744073709551615');
  assert.ok(!('seed' in (bodyOf({ ...question, seed: '' }) as object)));
});
