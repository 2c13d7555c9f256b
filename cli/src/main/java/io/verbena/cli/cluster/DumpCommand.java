package io.verbena.cli.cluster;

import io.verbena.cli.CommandFailedException;
import io.verbena.cli.ExitStatus;
import io.verbena.cli.Terminal;
import io.verbena.client.KvClient;
import io.verbena.client.KvScan;
import io.verbena.client.KvTable;
import io.verbena.load.report.Progress;
import io.verbena.load.report.Units;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.Callable;

/** {@code verbena dump}. */
@Command(
    name = "dump",
    description = "Write all records of a table to a file.",
    footer = {"", "Others may write meanwhile: see 'verbena scan --help'. Versions are not written.", "",
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
    private RecordFile.Format format;

    @Option(names = "--hex", description = "Write all keys and values as hex digits. Without it JSON lines have " +
        "those as hex digits that are no text in UTF-8, and CSV refuses them.")
    private boolean hex;

    @Parameters(paramLabel = "FILE", description = "Made, or replaced when all records are in it.")
    private Path file;

    @Override
    public Integer call()
    {
        final RecordFile.Format chosen = RecordFile.Format.of(format, file);
        final Path partial = file.resolveSibling(file.getFileName() + ".partial");
        final NanoClock clock = SystemNanoClock.INSTANCE;
        final Progress progress = Terminal.progress();
        final long startNs = clock.nanoTime();
        return clientOptions.with((client) ->
        {
            try
            {
                final long count = write(client, chosen, partial, progress, clock);
                Files.move(partial, file, StandardCopyOption.REPLACE_EXISTING);
                progress.clear();
                spec.commandLine().getOut().println("dumped " + Units.count(count) + " records in " +
                    Units.duration(clock.nanoTime() - startNs));
                return ExitStatus.OK;
            }
            catch (final IOException ex)
            {
                throw new CommandFailedException(
                    ExitStatus.CANNOT_CREATE, file + " cannot be written: " + ex, ex);
            }
            finally
            {
                progress.clear();
                partial.toFile().delete();
            }
        });
    }

    private long write(
        final KvClient client, final RecordFile.Format chosen, final Path partial, final Progress progress,
        final NanoClock clock) throws IOException
    {
        final KvTable dumped = client.table(table.name());
        final long expected = Math.max(1, dumped.stat().records());
        long count = 0;
        try (BufferedWriter out = Files.newBufferedWriter(partial))
        {
            final RecordFile.Writer writer = RecordFile.writer(chosen, out, hex);
            final KvScan scan = dumped.scan();
            while (scan.hasNext())
            {
                writer.write(scan.next());
                if (0 == (++count & PROGRESS_MASK))
                {
                    progress.update(
                        clock.nanoTime(), "dump", (double)count / expected, Units.count(count) + " records");
                }
            }
        }
        return count;
    }
}
