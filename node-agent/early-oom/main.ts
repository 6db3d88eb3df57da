/** Wires the agent: settings, ports and the loop. */
process.stdout.write("not wired yet\n");
