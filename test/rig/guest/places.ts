/** How many guests run at a time: each takes a processor and half a gigabyte of the machine. */
import { waitUntil } from "../wait.ts";

const PLACES = 2;
/** Longer than guests are allowed to live in the tests: whoever waits so long holds the places itself. */
const WAIT_MILLISECONDS = 240_000;

let taken = 0;

/** Waits for a place and takes it, until it is disposed of. */
export async function takePlace(): Promise<Disposable> {
  await waitUntil("a place for a guest is free", tryToTake, { withinMilliseconds: WAIT_MILLISECONDS });
  return {
    [Symbol.dispose]: () => {
      taken -= 1;
    },
  };
}

function tryToTake(): boolean {
  if (taken === PLACES) return false;
  taken += 1;
  return true;
}
