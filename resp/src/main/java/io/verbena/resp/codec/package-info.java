/**
 * Redis' protocol as bytes: commands out of what a connection receives, replies in its versions 2 and 3. Must not know
 * what commands mean, nor what carries the bytes.
 */
package io.verbena.resp.codec;
