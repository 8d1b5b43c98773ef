import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RestartPolicy } from '../../src/restarts';

const minute = 60_000;

describe('a server that dies', () => {
  it('is restarted at once, then after growing pauses, then not at all', () => {
    const policy = new RestartPolicy({ count: 4, windowMs: 3 * minute });
    const waits = [0, 1, 2, 3, 4].map((second) => policy.died(second * 1000));
    assert.deepEqual(waits, [0, 250, 500, 1000, undefined]);
  });

  it('is restarted without end when the deaths are far apart', () => {
    const policy = new RestartPolicy({ count: 2, windowMs: 3 * minute });
    const waits = Array.from({ length: 50 }, (_, death) => policy.died(death * 2 * minute));
    assert.equal(waits[0], 0);
    assert.ok(waits.slice(1).every((wait) => wait === 250));
  });

  it('counts deaths only as long as they are recent', () => {
    const policy = new RestartPolicy({ count: 2, windowMs: 3 * minute });
    assert.equal(policy.died(0), 0);
    assert.equal(policy.died(minute), 250);
    assert.equal(policy.died(2 * minute), undefined);
    assert.equal(policy.died(10 * minute), 0);
  });

  it('gets a fresh start when the user asks for one', () => {
    const policy = new RestartPolicy({ count: 1, windowMs: minute });
    assert.equal(policy.died(0), 0);
    assert.equal(policy.died(1), undefined);
    policy.reset();
    assert.equal(policy.died(2), 0);
  });
});
