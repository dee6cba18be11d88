// Links into the reader's editor: only below the folder that the server named.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editorHref } from '../src/editor';
import type { Source } from '../src/schema';

const q = { editor: 'vscode://file{path}:{line}', roots: { glassbox: '/srv/me/my code/glassbox/', 'github.com/a/b': 'C:\\src\\b' } };
const at = (path: string, repo = 'glassbox', line = 7): Source => ({ repo, commit: 'c', path, symbol: 's', line });

test('a line opens below the root of its repository', () => {
  assert.equal(editorHref(at('engine/model/llama.go'), q), 'vscode://file/srv/me/my%20code/glassbox/engine/model/llama.go:7');
  assert.equal(editorHref(at('x.py', 'https://github.com/a/b'), q), 'vscode://file/C:/src/b/x.py:7');
  assert.equal(editorHref(at('a#b?.go', 'glassbox', -3), q), 'vscode://file/srv/me/my%20code/glassbox/a%23b%3F.go:1');
});

test('what a hostile recording calls a path leads nowhere', () => {
  for (const path of ['../../etc/passwd', '/etc/passwd', 'a/../../b', 'C:/x', 'a\\..\\b', 'a\nb', '', './x']) assert.equal(editorHref(at(path), q), null, path);
  for (const repo of ['other', '', 'constructor', '__proto__']) assert.equal(editorHref(at('a.go', repo), q), null, repo);
  assert.equal(editorHref(at('a.go'), null), null);
});
