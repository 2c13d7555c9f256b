package io.verbena.rdma.roce.device;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Two devices in two network namespaces of the kernel; the way between them comes to carry shorter packets only. */
@Timeout(60)
class ShrinkingPathSystemTest
{
    @TempDir
    private Path directory;

    @Test
    void shouldFailInTimeAndConnectAgainWithShorterPackets() throws IOException, InterruptedException
    {
        final List<String> namespace = namespace();
        assumeTrue(!namespace.isEmpty(), "no network namespaces can be made here: 'unshare --net' and 'ip' as root");
        final List<String> command = new ArrayList<>(namespace);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(flag -> flag.startsWith("--")).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ShrinkingPathMain.class.getName(),
            directory.toString()));

        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();

        assertThat(output.lines().filter(line -> line.matches("(before|after|refused|again) .*"))).as(output)
            .satisfiesExactly(
                line -> assertThat(line).isEqualTo("before success"),
                line -> assertThat(line).isEqualTo("after transport retry counter exceeded"),
                line -> assertThat(line).contains(
                    "UNREACHABLE: packets of 4096 bytes do not reach", "connecting again tries 2048 bytes"),
                line -> assertThat(line).contains(
                    "UNREACHABLE: packets of 2048 bytes do not reach", "connecting again tries 1024 bytes"),
                line -> assertThat(line).isEqualTo("again success"));
    }

    /** The words before a command that give it a namespace where veth can be made; empty where it may not have one. */
    private static List<String> namespace() throws InterruptedException
    {
        for (final List<String> prefix :
            List.of(List.of("unshare", "--net"), List.of("unshare", "--net", "--map-root-user")))
        {
            final List<String> command = new ArrayList<>(prefix);
            command.addAll(List.of("ip", "link", "add", "near", "type", "veth", "peer", "name", "far"));
            try
            {
                if (new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0)
                {
                    return prefix;
                }
            }
            catch (final IOException ex)
            {
                // The program is not installed.
                return List.of();
            }
        }
        return List.of();
    }
}
