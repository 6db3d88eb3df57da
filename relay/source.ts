/** Where a connection comes from, as the limits and the log know it. */

/**
 * The peer's address, empty once the connection is gone. A listener for both families sees an IPv4 peer as
 * `::ffff:10.0.0.1`; here it is `10.0.0.1`, as everybody else calls it.
 */
export function sourceOf(socket: { readonly remoteAddress?: string | undefined }): string {
  return (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
}
