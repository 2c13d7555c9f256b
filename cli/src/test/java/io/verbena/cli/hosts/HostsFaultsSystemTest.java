package io.verbena.cli.hosts;

import io.verbena.cli.cluster.NodeLauncher;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A cluster on three emulated hosts whose processes and links fail one after the other, while a client stays connected
 * and nobody starts again what has not died. One run, of which each test judges a part. A link is cut for longer than
 * the lease of 3 s; {@code -Dverbena.hosts.cut.ms=10000} for longer, with further faults.
 */
class HostsFaultsSystemTest
{
    private static final long TIMEOUT_S = 280;
    private static final String CUT_MS = "verbena.hosts.cut.ms";
    private static List<String> lines;

    @BeforeAll
    static void run(@TempDir final Path folder) throws Exception
    {
        final String refusal = HostNamespaces.refusal();
        assumeTrue(null == refusal, refusal);
        final Path out = folder.resolve("out");
        final List<String> command = NodeLauncher.commandLine(HostsFaultsMain.JVM_FLAGS, List.of("dev", "hosts",
            "--name", "faults-" + ProcessHandle.current().pid(), "3", "--"));
        command.addAll(NodeLauncher.commandLine(HostsFaultsMain.JVM_FLAGS, HostsFaultsMain.class.getName(),
            List.of(folder.resolve("cluster").toString(), Long.toString(Long.getLong(CUT_MS, 4_000)))));
        final Process hosts =
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
        try
        {
            assertThat(hosts.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).as(Files.readString(out)).isTrue();
        }
        finally
        {
            hosts.destroyForcibly().waitFor();
        }
        lines = Files.readAllLines(out);
    }

    private static List<String> seen(final String fault)
    {
        final String start = fault + ": ";
        return lines.stream().filter((line) -> line.startsWith(start)).map((line) -> line.substring(start.length()))
            .toList();
    }

    private static void assertSeen(final String fault, final String... expected)
    {
        assertThat(seen(fault)).as(String.join("\n", lines)).containsExactly(expected);
    }

    /** It was cut off by its memory node, and has joined again by itself. */
    @Test
    void shouldServeAgainWhenTheLinkOfAComputeNodeIsBack()
    {
        assertSeen("link of h3 cut", "serves again");
    }

    @Test
    void shouldServeWhenAMemoryNodeWasStoppedForAShortTime()
    {
        assertSeen("memory-1 paused", "serves");
    }

    /** Packets to the memory node reach the compute node's own host, where nothing answers. */
    @Test
    void shouldSayThatItDoesNotReachAnAddressThatTwoHostsHaveAndServeAgainWhenOneHasIt()
    {
        final List<String> seen = seen("address of h2 twice");
        assertThat(seen).as(String.join("\n", lines)).hasSize(2);
        assertThat(seen.getFirst()).matches("1 \\(node 1 .*: fd00:77:0:0:0:0:0:2 port 4800/tcp: Connection refused\\)");
        assertThat(seen.getLast()).isEqualTo("serves again");
    }

    /** The compute node is connected to the process before, and nothing has reported that it is gone. */
    @Test
    void shouldServeAgainAfterAHalfOpenConnection()
    {
        assertSeen("half-open connection to memory-1", "has the record", "serves again");
    }

    @Test
    void shouldServeAgainWhenKilledProcessesAreBackAtTheirAddresses()
    {
        assertSeen("memory-1, compute-1 killed", "has the record", "serves again");
        assertSeen("meta-server killed", "has the record", "serves again");
    }

    @Test
    void shouldSayInOneLineThatThePortOfARoleIsInUse()
    {
        assertThat(seen("port in use")).as(String.join("\n", lines)).singleElement().asString()
            .startsWith("verbena: memory node: cannot open UDP port 4801 of fd00:77:0:0:0:0:0:2: ")
            .contains("the port is in use (EADDRINUSE)")
            .endsWith("give another port, status 73");
    }

    @Test
    void shouldAnswerByAsManyPortsAsTheMemoryNodeHasThreads()
    {
        assertSeen("memory", "ports [4800, 4801]");
    }

    @Test
    void shouldServeAgainWhenTheHostOfTheMemoryNodeIsBack()
    {
        assumeTrue(Long.getLong(CUT_MS, 0) >= HostsFaultsMain.DEEP_MS, "takes a minute: -D" + CUT_MS + "=10000");
        assertSeen("link of h2 cut", "serves again");
        assertSeen("h2 started again", "checkpoint 0", "serves again");
    }
}
