package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** A table of a cluster of processes that takes far more records than it was made for, and what becomes of them. */
@Timeout(400)
class GrowingTableSystemTest
{
    private static final int RECORDS = 200_000;

    @TempDir
    private Path directory;
    private CommandLines.Result last;

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
    }

    private int run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.toString()));
        last = CommandLines.run(all);
        return last.status();
    }

    private void succeed(final String... arguments)
    {
        assertThat(run(arguments)).as("%s: %s%s", List.of(arguments), last.out(), last.err()).isZero();
    }

    private void load(final int from, final int to) throws IOException
    {
        final StringBuilder lines = new StringBuilder("key,value\n");
        for (int i = from; i < to; i++)
        {
            lines.append("key-").append(i).append(',').append(i).append('\n');
        }
        succeed("load", Files.writeString(directory.resolve("in.csv"), lines).toString(), "--table", "grown");
    }

    private void killMemoryNode()
    {
        final List<Entry> entries = new ProcessTable(directory.resolve("processes")).entries();
        final ProcessHandle process = entries.stream().filter((entry) -> "memory-1".equals(entry.name()))
            .findFirst().orElseThrow().process().orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
    }

    private void assertRecords(final String when) throws IOException
    {
        final Path file = directory.resolve("out.csv");
        Files.deleteIfExists(file);
        succeed("dump", file.toString(), "--table", "grown");
        final BitSet found = new BitSet();
        try (Stream<String> lines = Files.lines(file))
        {
            lines.skip(1).forEach((line) ->
            {
                final String number = line.substring(line.indexOf(',') + 1);
                assertThat(line).as(when).isEqualTo("key-" + number + "," + number);
                found.set(Integer.parseInt(number));
            });
        }
        assertThat(found.cardinality()).as(when).isEqualTo(RECORDS);
        succeed("table", "check", "grown");
        assertThat(last.out()).as(when).contains("SOUND: every invariant holds");
    }

    @Test
    void shouldKeepWhatATableTakesThatWasMadeForFewRecords() throws IOException
    {
        succeed("up", "--compute-nodes", "2", "--memory", "128");
        succeed("table", "create", "grown", "--records", "1000");
        load(0, RECORDS / 2);
        succeed("checkpoint");
        killMemoryNode();
        succeed("up");
        load(RECORDS / 2, RECORDS);
        assertRecords("through the death of the memory node");
        succeed("down");
        succeed("up");
        assertRecords("restored from the checkpoint");
    }
}
