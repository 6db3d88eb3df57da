/** How many guests run at a time: each takes a processor and half a gigabyte of the machine. */
import { waitUntil } from "../wait.ts";

const PLACES = 2;
/** Longer than guests are allowed to live in the tests: whoever waits so long holds the places itself. */
const WAIT_MILLISECONDS = 240_000;

let taken = 0;

/** Waits for a place and takes it, until it is disposed of. */
export async function takePlace(): Promise<Disposable> {
  await waitUntil("a place for a guest is free", tryToTake, { withinMilliseconds: WAIT_MILLISECONDS });
  const place = new DisposableStack();
  place.defer(() => {
    taken -= 1;
  });
  // Disposed of a second time, it does nothing.
  return place;
}

function tryToTake(): boolean {
  if (taken === PLACES) return false;
  taken += 1;
  return true;
}
