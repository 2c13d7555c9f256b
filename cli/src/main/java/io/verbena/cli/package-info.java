/**
 * The {@code verbena} command: the root that knows all commands, and those that need no package of their own. Output is
 * text, or JSON where asked for; every error is one line.
 */
package io.verbena.cli;
