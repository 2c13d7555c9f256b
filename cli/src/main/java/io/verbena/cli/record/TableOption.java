package io.verbena.cli.record;

import picocli.CommandLine.Option;

/** Which table a command means. */
final class TableOption
{
    @Option(names = {"-t", "--table"}, paramLabel = "NAME", defaultValue = "default",
        description = "Table. Default: ${DEFAULT-VALUE}, which 'verbena up' makes.")
    private String table;

    String name()
    {
        return table;
    }
}
