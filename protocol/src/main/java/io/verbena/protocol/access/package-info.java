/**
 * Users: with what they prove who they are, and what each may do with which tables. Must not know requests, messages or
 * connections.
 */
package io.verbena.protocol.access;
