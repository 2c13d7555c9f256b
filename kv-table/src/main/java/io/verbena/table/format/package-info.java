/**
 * Bytes of a table as they lie in registered memory: one descriptor for each format, with its box diagram, its
 * constants and its version. Owns where each bit is and how a key's hash chooses it. Must not know verbs, nodes or
 * protocols.
 *
 * <p>All integers are little-endian. Every structure starts with, or is reached through, a format version; a reader
 * that meets one it does not know refuses it by name with {@link io.verbena.table.format.FormatException}. The pages in
 * {@code docs/format/} state the same offsets, and a test compares them.
 */
package io.verbena.table.format;
