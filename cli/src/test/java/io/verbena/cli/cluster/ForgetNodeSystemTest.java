package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The number of nodes is an option of the meta server. */
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
}
