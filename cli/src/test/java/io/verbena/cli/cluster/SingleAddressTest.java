package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.test.UnusedPorts;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What commands do of which nobody listens at the address: one that is given may be that of a member of a group that
 * elects a leader, and is asked until the timeout; that of a folder with a single meta server is not.
 */
@Timeout(110)
class SingleAddressTest
{
    private static final int SHORT_MS = 800;
    /** Longer than the test may take. */
    private static final int LONG_MS = (int)TimeUnit.MINUTES.toMillis(9);
    /** By a client, by calls to the meta server, and by a store that is opened. */
    private static final List<List<String>> COMMANDS =
        List.of(List.of("get", "key"), List.of("user", "list"), List.of("table", "check", "--all"));

    @TempDir
    private Path directory;
    private String address;

    @BeforeEach
    void nameNobody()
    {
        ClusterToken.readOrCreate(directory.resolve("token"));
        address = "verbena://127.0.0.1:" + UnusedPorts.next();
    }

    private static long run(final List<String> command, final String... options)
    {
        final List<String> all = new ArrayList<>(command);
        all.addAll(List.of(options));
        final long startNs = System.nanoTime();
        final CommandLines.Result result = CommandLines.run(all);
        final long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
        assertThat(result.status()).as("%s: %s", all, result.err()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(result.err()).as("%s", all).contains("is the cluster up?").hasLineCount(1);
        return tookMs;
    }

    @Test
    void shouldAskAnAddressThatIsGivenUntilTheTimeout()
    {
        for (final List<String> command : COMMANDS)
        {
            assertThat(run(command, "--cluster", address, "--token-file", directory.resolve("token").toString(),
                "--timeout-ms", Integer.toString(SHORT_MS))).as("%s", command).isGreaterThanOrEqualTo(SHORT_MS - 10);
        }
    }

    @Test
    void shouldSayAtOnceThatTheSingleMetaServerOfAFolderIsDown()
    {
        ClusterFolder.of(directory).write(address, "soft");
        for (final List<String> command : COMMANDS.subList(0, 2))
        {
            assertThat(run(command, "--data", directory.toString(), "--timeout-ms", Integer.toString(LONG_MS)))
                .as("%s", command).isLessThan(LONG_MS);
        }
    }
}
