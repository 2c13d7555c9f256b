package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.console.StandardStream;
import io.verbena.cli.console.Terminal;
import io.verbena.client.KvClient;
import io.verbena.client.KvScan;
import io.verbena.client.KvTable;
import io.verbena.load.report.Progress;
import io.verbena.load.report.Units;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code verbena dump}. */
@Command(
    name = "dump",
    description = "Write all records of a table to a file.",
    footer = {"", "Others may write meanwhile: see 'verbena scan --help'. Versions are not written.", "",
        "With --limit or --cursor a table is dumped in parts, each a file of its own: the last line on standard " +
        "error is the cursor to go on from.", "",
        "Examples: verbena dump all.jsonl", "          verbena dump --hex --table t all.csv"},
    defaultValueProvider = SettingsProvider.class)
public final class DumpCommand implements Callable<Integer>
{
    private static final int PROGRESS_MASK = (1 << 14) - 1;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private TableOption table;

    @Option(names = "--format", paramLabel = "jsonl|csv",
        description = "JSON lines or CSV. Default: as the file's name ends.")
    private RecordFormat format;

    @Option(names = "--hex", description = "Write all keys and values as hex digits. Without it JSON lines have " +
        "those as hex digits that are not text in UTF-8, and CSV refuses them.")
    private boolean hex;

    @Option(names = "--limit", paramLabel = "N", description = "Write no more records than that.")
    private Long limit;

    @Option(names = "--cursor", paramLabel = "C",
        description = "Resume where another dump or scan of this table ended: the cursor it printed.")
    private String cursor;

    @Parameters(paramLabel = "FILE", description = "Made, or replaced when all records are in it; what " +
        "is no file on a disk, such as a named pipe, is written as it stands; - is standard output.")
    private Path file;

    @Override
    public Integer call()
    {
        if (null != limit && limit < 0)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--limit " + limit + ": must be 0 or more", null);
        }
        final RecordFormat chosen = RecordFormat.of(format, file);
        final NanoClock clock = SystemNanoClock.INSTANCE;
        final Progress progress = Terminal.progress();
        final long startNs = clock.nanoTime();
        // Before the work: nobody wants to hear after it that there is nowhere to write to.
        try (DumpFile target = DumpFile.open(StandardStream.output(file)))
        {
            return clientOptions.with((client) ->
            {
                final long count = writeUnlessLeft(client, chosen, target, progress, clock);
                final CommandLine line = spec.commandLine();
                if (count >= 0)
                {
                    (target.isStandardOutput() ? line.getErr() : line.getOut()).println("dumped " +
                        Units.count(count, "record") + " in " + Units.duration(clock.nanoTime() - startNs));
                }
                return ExitStatus.OK;
            });
        }
        catch (final IOException | UncheckedIOException ex)
        {
            final IOException reason = ex instanceof final UncheckedIOException wrapped ? wrapped.getCause() :
                (IOException)ex;
            throw new CommandFailedException(
                ExitStatus.CANNOT_CREATE, file + " cannot be written: " + FileErrors.reason(reason), ex);
        }
        finally
        {
            progress.clear();
        }
    }

    /** Returns how many, or -1 when who read them had enough. */
    private long writeUnlessLeft(
        final KvClient client, final RecordFormat chosen, final DumpFile target, final Progress progress,
        final NanoClock clock)
    {
        try
        {
            return write(client, chosen, target, progress, clock);
        }
        catch (final UncheckedIOException ex)
        {
            if (target.isLeft(ex.getCause()))
            {
                return -1;
            }
            throw ex;
        }
    }

    private long write(
        final KvClient client, final RecordFormat chosen, final DumpFile target, final Progress progress,
        final NanoClock clock)
    {
        final KvTable dumped = client.table(table.name());
        final long most = null == limit ? Long.MAX_VALUE : limit;
        final long expected = Math.clamp(dumped.stat().records(), 1, Math.max(1, most));
        final long beganNs = clock.nanoTime();
        long count = 0;
        final KvScan.Records scan = (null == cursor ? dumped.scan() : dumped.scanFrom(cursor)).iterator();
        try
        {
            final BufferedWriter out = new BufferedWriter(
                new OutputStreamWriter(target.out(), StandardCharsets.UTF_8.newEncoder()));
            final RecordWriter writer = RecordFile.writer(chosen, out, hex);
            while (count < most && scan.hasNext())
            {
                writer.write(scan.next());
                if (0 == (++count & PROGRESS_MASK))
                {
                    final long nowNs = clock.nanoTime();
                    progress.update(nowNs - beganNs, nowNs, "dump", (double)count / expected, count, "records");
                }
            }
            out.flush();
            target.complete();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        progress.clear();
        if (null != limit || null != cursor)
        {
            spec.commandLine().getErr().println("cursor: " + scan.cursor());
            spec.commandLine().getErr().flush();
        }
        return count;
    }
}
