/**
 * A connection without what carries it: the commands that wait, the operations under way for them, and the replies in
 * their order. Must not know what the commands mean, nor sockets.
 */
package io.verbena.resp.session;
