/**
 * How a node proves at a connection which identity it acts for: secrets, proofs and the protection against replays.
 * Must not know connections.
 */
package io.verbena.raas.identity;
