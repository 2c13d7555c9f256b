/**
 * The peer directory: one 128-byte record for each living node in a hash-addressed view, written by the CPU of the node
 * that owns it and read by anyone else with one one-sided READ. Knows how to reach a peer and what memory it grants;
 * not who is alive, which its owner decides.
 */
package io.verbena.raas.directory;
