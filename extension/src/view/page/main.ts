import './view.css';
import type { Show } from '../messages';
import { growth } from './growth';
import { header } from './header';
import { request, savedState, saveState, type State } from './host';
import { alternatives, evidence, fixes, missing, verify } from './lists';
import { memory } from './memory';
import { suspects } from './suspects';
import { timeline } from './timeline';

/** Shows a diagnosis in place of the one before it. */
function render(state: State): void {
  const { model } = state;
  const { diagnosis } = model.result;
  const main = document.querySelector('main');
  const parts = [
    header(model),
    suspects(model),
    memory(diagnosis),
    growth(diagnosis),
    timeline(diagnosis),
    fixes(diagnosis),
    verify(diagnosis),
    missing(diagnosis, state.done, (done) => {
      saveState({ model, done });
    }),
    evidence(diagnosis),
    alternatives(diagnosis),
  ];
  main?.replaceChildren(...parts.filter((part) => part !== undefined));
}

window.addEventListener('message', ({ data }: MessageEvent<Show>) => {
  const { model } = data;
  const saved = savedState();
  // After a reload it is what was shown before, with what was ticked off.
  const again = saved !== undefined && JSON.stringify(saved.model) === JSON.stringify(model);
  const state = { model, done: again ? saved.done : [] };
  saveState(state);
  if (!again) {
    render(state);
    window.scrollTo(0, 0);
  }
});

const state = savedState();
if (state !== undefined) {
  render(state);
}
request({ kind: 'ready' });
