/** What the commands mean, and what they reply: as Redis 7, with strings for values. Must not know sockets. */
package io.verbena.resp.command;
