package io.verbena.embedded;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A seed is run again in another process than the one in which it failed, where sets may have other orders. */
@Timeout(120)
class RepetitionSystemTest
{
    @Test
    void shouldDoTheSameInAnotherProcess() throws Exception
    {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter((argument) -> argument.startsWith("--")).forEach(command::add);
        command.addAll(List.of("-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
            DigestProgram.class.getName()));
        final Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try
        {
            // A read has no deadline: of a process that hangs it would never end, nor hear of an interrupt.
            final CompletableFuture<List<String>> there = CompletableFuture.supplyAsync(() ->
                process.inputReader().lines().filter((line) -> line.matches("[0-9a-f]{1,16}")).toList());
            final List<String> here = DigestProgram.digests();
            assertThat(there.get(60, TimeUnit.SECONDS)).isEqualTo(here).doesNotHaveDuplicates();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        }
        finally
        {
            process.destroyForcibly();
        }
    }
}
