/** {@code verbena shell}: commands on records and tables, one a line, over one connection. */
package io.verbena.cli.shell;
