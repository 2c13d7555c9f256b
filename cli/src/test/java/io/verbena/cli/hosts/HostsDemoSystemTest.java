package io.verbena.cli.hosts;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.NodeLauncher;
import io.verbena.cli.console.ExitStatus;
import io.verbena.rdma.fabric.Fabrics;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** {@code demo --hosts}: the demo's verdict across hosts that lose packets, one of which is cut off for a while. */
class HostsDemoSystemTest
{
    private static final long TIMEOUT_S = 150;

    @TempDir
    private Path folder;

    @Test
    void shouldPassWhileFramesAreLostAndALinkIsCut() throws Exception
    {
        final String refusal = HostNamespaces.refusal();
        assumeTrue(null == refusal, refusal);
        assumeTrue(Fabrics.providers().stream().anyMatch((provider) -> provider.name().equals("roce")),
            "there is no fabric roce");
        final Path out = folder.resolve("out");
        final Path err = folder.resolve("err");

        final Process demo = new ProcessBuilder(NodeLauncher.commandLine(
            List.of(), List.of("demo", "--hosts", "3", "--seconds", "12", "--records", "500")))
            .redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        final boolean hasEnded = demo.waitFor(TIMEOUT_S, TimeUnit.SECONDS);
        demo.destroyForcibly();

        assertThat(hasEnded).as(Files.readString(err)).isTrue();
        assertThat(demo.exitValue()).as(Files.readString(out) + Files.readString(err)).isEqualTo(ExitStatus.OK);
        assertThat(Files.readString(out)).contains("on fabric roce", "PASSED").containsPattern("linearizable +yes");
        assertThat(Files.readString(err)).contains("The link of h3 is cut for 3 s", "The link of h3 is back")
            .containsPattern("verbena: [1-9][0-9]* frames arrived, [1-9][0-9]* lost, .* [1-9][0-9]* on cut links");
    }

    @Test
    void shouldRefuseInOneLineWhatItCannotRun()
    {
        assertRefused("--hosts 1: must be 2 to 64", "--hosts", "1");
        assertRefused("leave out --processes", "--hosts", "3", "--processes");
        assertRefused("leave out --fabric", "--hosts", "3", "--fabric", "ibverbs");
        assertRefused("--records 0: must be", "--hosts", "3", "--records", "0");
    }

    private static void assertRefused(final String expected, final String... options)
    {
        final CommandLines.Result result =
            CommandLines.run(Stream.concat(Stream.of("demo"), Stream.of(options)).toList());
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err().strip().lines()).singleElement().asString().contains(expected);
    }
}
