package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.ExitStatus;
import io.verbena.memory.MemoryFolder;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SuperblockDescriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/** A memory node with one damaged record: refused without the option, served with it. */
@Timeout(200)
class AcceptedDamageSystemTest
{
    private static final byte[] MARK = "a value that is nowhere else".getBytes(StandardCharsets.UTF_8);

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

    private void killMemoryNode()
    {
        final Entry entry = new ProcessTable(directory.resolve("processes")).entries().stream()
            .filter((process) -> process.name().equals("memory-1")).findFirst().orElseThrow();
        final ProcessHandle process = entry.process().orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
    }

    /** Changes the memory of the node, which has ended. */
    private void change(final Consumer<ByteBuffer> change) throws IOException
    {
        final ClusterFolder folder = ClusterFolder.of(directory);
        final Path file = Path.of(folder.fabric().substring("soft:".length()))
            .resolve(MemoryFolder.memoryName(folder.memoryNode("memory-1")) + ".memory");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            change.accept(channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size()));
        }
    }

    /** Flips the first byte of the marked value. */
    private void damageRecord() throws IOException
    {
        change((memory) ->
        {
            int at = 0;
            while (-1 != memory.slice(at, MARK.length).mismatch(ByteBuffer.wrap(MARK)))
            {
                at++;
            }
            memory.put(at, (byte)~memory.get(at));
        });
    }

    @Test
    void shouldServeAllOtherRecordsWhenDamageIsAccepted() throws IOException
    {
        succeed("up", "--memory", "16");
        succeed("put", "good", "fine");
        succeed("put", "bad", new String(MARK, StandardCharsets.UTF_8));
        killMemoryNode();
        damageRecord();
        assertThat(run("up")).isNotZero();
        assertThat(last.err()).contains("1 damaged records, the first: ", "start it with --accept-damage");

        succeed("up", "--accept-damage");
        succeed("get", "good");
        assertThat(last.out()).isEqualTo("fine\n");
        for (final String[] operation : new String[][]{{"get", "bad"}, {"put", "bad", "new"}, {"delete", "bad"}})
        {
            assertThat(run(operation)).as("%s", List.of(operation)).isEqualTo(ExitStatus.FAILED);
            assertThat(last.err()).contains("fail their checksum").doesNotContain("no such record");
        }
        succeed("status");
        assertThat(last.out()).contains("error: memory-1: damaged records in its memory when it started: 1;");
        assertThat(run("table", "check", "--all")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.out()).containsOnlyOnce("its block is damaged or was rewritten");
        succeed("put", "good", "better");
        succeed("get", "good");
        assertThat(last.out()).isEqualTo("better\n");

        killMemoryNode();
        damageHeadersOfBlocks();
        assertThat(run("up")).isNotZero();
        assertThat(last.err()).contains("chunk header is damaged", "start it with --accept-damage");
        succeed("up", "--accept-damage");
        succeed("get", "good");
        assertThat(last.out()).isEqualTo("better\n");
        succeed("put", "good", "best");
        succeed("status");
        assertThat(last.out()).contains("error: memory-1: chunks whose headers were damaged: ");
        run("table", "check", "--all");
        assertThat(last.out()).contains("quarantined: memory node 1: chunk ", "its header was damaged");
    }

    private void damageHeadersOfBlocks() throws IOException
    {
        change((memory) ->
        {
            memory.order(ByteOrder.LITTLE_ENDIAN);
            // Else the last header that was written would be written once more.
            memory.put(SuperblockDescriptor.JOURNAL_OFFSET, new byte[Long.BYTES + ChunkDescriptor.HEADER_BYTES]);
            int at = (int)memory.getLong(SuperblockDescriptor.CHUNK_HEADERS_OFFSET_OFFSET);
            for (int i = memory.getInt(SuperblockDescriptor.CHUNK_COUNT_OFFSET); i > 0; i--)
            {
                final int lease = at + ChunkDescriptor.LEASE_NUMBER_OFFSET;
                if (ChunkDescriptor.STATE_BLOCKS == memory.get(at + ChunkDescriptor.STATE_OFFSET))
                {
                    memory.put(lease, (byte)~memory.get(lease));
                }
                at += ChunkDescriptor.HEADER_BYTES;
            }
        });
    }
}
