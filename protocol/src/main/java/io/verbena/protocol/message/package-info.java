/**
 * What nodes say to each other, as values: registrations, heartbeats, pages of nodes and tables, leased chunks, and the
 * kinds of failure. Must not know the bytes they become, nor who sends them.
 */
package io.verbena.protocol.message;
