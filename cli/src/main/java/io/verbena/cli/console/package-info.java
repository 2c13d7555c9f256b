/**
 * What all commands share: their output, the files that they write, settings, one line for each error, exit statuses.
 */
package io.verbena.cli.console;
