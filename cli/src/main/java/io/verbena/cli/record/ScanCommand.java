package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.client.KvClient;
import io.verbena.client.KvRecord;
import io.verbena.client.KvScan;
import io.verbena.client.KvTable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/** {@code verbena scan}. */
@Command(
    name = "scan",
    description = "Print the records of a table, in no order: key, tab, value.",
    footer = {"", "With --limit or --cursor the last line on standard error is the cursor to go on from, at any time " +
        "until the table is dropped.", "", "A key that is there from the beginning to the end of the scan is " +
        "printed once; one that others write or delete meanwhile may be printed, or not, or twice. For files, see " +
        "'verbena dump'."},
    defaultValueProvider = SettingsProvider.class)
public final class ScanCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private TableOption table;

    @Option(names = "--hex", description = "Print keys and values as hex digits instead of text in UTF-8.")
    private boolean hex;

    @Option(names = "--key-hex",
        description = "Print keys as hex digits; values are what they are without this option.")
    private boolean keyHex;

    @Option(names = "--json", description = "Print each record as one JSON object on a line of its own, with key, " +
        "value and version; bytes that are not text as key_hex, value_hex.")
    private boolean json;

    @Option(names = "--keys", description = "Print keys only.")
    private boolean keysOnly;

    @Option(names = "--show-version", description = "Print the record's version, and a tab, before the value.")
    private boolean showVersion;

    @Option(names = "--limit", paramLabel = "N", description = "Print no more records than that.")
    private Long limit;

    @Option(names = "--cursor", paramLabel = "C",
        description = "Resume where another scan of this table ended: the cursor it printed. At the end of the table " +
            "nothing is printed any more.")
    private String cursor;

    @Override
    public Integer call()
    {
        if (null != limit && limit < 0)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--limit " + limit + ": must be 0 or more", null);
        }
        return clientOptions.with(this::scan);
    }

    private int scan(final KvClient client)
    {
        final CommandOutput out = CommandOutput.of(spec);
        final KvTable scanned = client.table(table.name());
        final KvScan.Records scan = (null == cursor ? scanned.scan() : scanned.scanFrom(cursor)).iterator();
        for (long left = null == limit ? Long.MAX_VALUE : limit; left > 0 && scan.hasNext(); left--)
        {
            final KvRecord record = scan.next();
            print(record, out);
            out.print('\n');
            if (out.isTerminal())
            {
                out.flush(); // a person sees each row when it comes
            }
            if (out.hasFailed())
            {
                break; // nobody reads on
            }
        }
        if (null != limit || null != cursor)
        {
            spec.commandLine().getErr().println("cursor: " + scan.cursor());
            spec.commandLine().getErr().flush();
        }
        return ExitStatus.OK;
    }

    private void print(final KvRecord record, final CommandOutput out)
    {
        if (json)
        {
            final RecordJson line = new RecordJson().bytes(RecordText.KEY, record.key(), hex || keyHex);
            if (!keysOnly)
            {
                line.bytes(RecordText.VALUE, record.value(), hex);
            }
            out.print(line.number(RecordText.VERSION, record.version()).line());
            return;
        }
        out.print(RecordOptions.bytes(record.key(), hex || keyHex, out));
        if (showVersion)
        {
            out.print("\t" + record.version());
        }
        if (!keysOnly)
        {
            out.print('\t');
            out.print(RecordOptions.bytes(record.value(), hex, out));
        }
    }
}
