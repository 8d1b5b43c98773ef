import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkSuspects, previewLink, type Suspect } from '../../src/links';

const suspect = (path: string, line: number, column: number): Suspect => ({ path, range: { start: { line, column } } });

const link = ({ path, range }: Suspect) => previewLink('/ws', `/ws/${path}`, range.start.line, range.start.column);

describe('a suspect in a diagnosis', () => {
  it('becomes a link wherever it is named', () => {
    const markdown = '- train.py:32:21 GL101\n- train.py:33:23 GL102\n\nSee train.py:32:21.';
    const suspects = [suspect('train.py', 32, 21), suspect('train.py', 33, 23)];
    assert.equal(
      linkSuspects(markdown, suspects, link),
      '- [train.py:32:21](/train.py#L32,21) GL101\n- [train.py:33:23](/train.py#L33,23) GL102\n\nSee [train.py:32:21](/train.py#L32,21).',
    );
  });

  it('is found although Markdown escapes its path', () => {
    const markdown = '- src/my\\_net\\[1\\].py:3:4 GL101';
    assert.equal(
      linkSuspects(markdown, [suspect('src/my_net[1].py', 3, 4)], link),
      '- [src/my\\_net\\[1\\].py:3:4](/src/my_net%5B1%5D.py#L3,4) GL101',
    );
  });

  it('is not confused with a place further along in the same line', () => {
    const suspects = [suspect('a.py', 3, 2), suspect('a.py', 3, 21)];
    assert.equal(
      linkSuspects('a.py:3:21, axpy:3:2, b/a.py:3:2', suspects, link),
      '[a.py:3:21](/a.py#L3,21), axpy:3:2, b/a.py:3:2',
    );
  });

  it('stays text when its file is not known', () => {
    const markdown = '- gone.py:1:1 GL101';
    assert.equal(
      linkSuspects(markdown, [suspect('gone.py', 1, 1)], () => undefined),
      markdown,
    );
    assert.equal(linkSuspects(markdown, [], link), markdown);
  });
});

describe('a link of the preview', () => {
  it('starts at the first workspace folder, for files of other folders too', () => {
    assert.equal(previewLink('/home/me/one', '/home/me/two/train.py', 7, 1), '/../two/train.py#L7,1');
  });

  it('survives spaces, parentheses and other letters', () => {
    assert.equal(previewLink('/ws', '/ws/a (1)/näher?#.py', 7, 1), '/a%20%281%29/n%C3%A4her%3f%23.py#L7,1');
  });
});
