package io.verbena.cli.hosts;

import io.verbena.cli.cluster.NodeLauncher;
import io.verbena.cli.cluster.UnreachedLeader;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The leader of a group of meta servers that nodes and clients do not reach gives the lead to one that they do. */
@Timeout(480)
class UnreachedLeaderSystemTest
{
    private static final long TIMEOUT_S = 420;

    @TempDir
    private Path directory;

    @Test
    void shouldServeWhileTheLeaderIsCutOffFromClientsAndThenFromNodesToo() throws Exception
    {
        final String refusal = HostNamespaces.refusal();
        assumeTrue(null == refusal, refusal);
        final Path out = directory.resolve("out");
        final List<String> command = NodeLauncher.commandLine(HostsFaultsMain.JVM_FLAGS, List.of("dev", "hosts",
            "--name", "unreached-" + ProcessHandle.current().pid(), "5", "--"));
        command.addAll(NodeLauncher.commandLine(HostsFaultsMain.JVM_FLAGS, UnreachedLeader.class.getName(),
            List.of(directory.resolve("cluster").toString())));
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
        assertThat(Files.readString(out)).contains(
            "cannot connect: ", "the same leads after", "a table was created", "none refused", "PASSED");
    }
}
