/**
 * Encryption of the messages of one connection: keys, counters and the layout of a sealed message. Must not know
 * connections.
 */
package io.verbena.raas.encryption;
