package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A memory node that is lost for good is given up; the number of nodes is an option. */
@Timeout(300)
class ForgetNodeSystemTest
{
    @TempDir
    private Path directory;

    @Test
    void shouldRefuseANumberOfNodesThatCannotBe()
    {
        for (final String nodes : List.of("0", "1025"))
        {
            final CommandLines.Result result = CommandLines.run(
                List.of("meta-server", "--data", directory.toString(), "--max-nodes", nodes));
            assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
            assertThat(result.err()).contains("--max-nodes " + nodes).contains("1 to 1024");
        }
    }

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
    }

    @Test
    void shouldForgetAMemoryNodeThatIsLostForGoodWithItsTables() throws Exception
    {
        assertThat(run("up", "--memory", "64", "--memory-nodes", "2").status()).isZero();
        assertThat(run("put", "k", "v").status()).isZero();
        final CommandLines.Result alive = run("node", "forget", "1", "--yes");
        assertThat(alive.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(alive.err()).contains("memory node 1 is alive").hasLineCount(1);

        new ProcessTable(directory.resolve("processes")).entries().stream()
            .filter((entry) -> entry.name().equals("memory-1"))
            .forEach((entry) -> ProcessHandle.of(entry.pid()).orElseThrow().destroyForcibly());
        CommandLines.Result asked = run("node", "forget", "1");
        for (int i = 0; i < 60 && asked.err().contains("is alive"); i++)
        {
            Thread.sleep(500);
            asked = run("node", "forget", "1");
        }
        assertThat(asked.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(asked.out()).contains("67,108,864 bytes").contains("lost: table 'default'");
        assertThat(asked.err()).contains("add --yes");
        assertThat(run("table", "list").out()).as("nothing is lost yet").contains("default");

        assertThat(run("node", "forget", "1", "--yes").status()).isZero();
        assertThat(run("table", "list").out()).doesNotContain("default");
        assertThat(run("node", "forget", "1", "--yes").out()).contains("forgotten already");
    }

    private CommandLines.Result run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.toString()));
        return CommandLines.run(all);
    }
}
