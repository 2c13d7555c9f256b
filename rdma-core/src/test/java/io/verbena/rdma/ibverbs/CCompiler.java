package io.verbena.rdma.ibverbs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The C compiler of this machine and the headers of libibverbs: tests that need them are skipped without. */
final class CCompiler
{
    private CCompiler()
    {
    }

    /**
     * Compiles a source that includes a header.
     *
     * @param header  such as {@code infiniband/verbs.h}; without it, or a compiler, the test is skipped.
     * @param output  what to make.
     * @param source  what of.
     * @param options besides.
     */
    static void compile(final String header, final Path output, final Path source, final String... options)
        throws IOException, InterruptedException
    {
        final Optional<Path> headers = headers(header);
        assumeTrue(
            headers.isPresent(), "no " + header + ": install libibverbs-dev, or ./verbena dev guest --prepare");
        final Optional<Path> compiler = compiler();
        assumeTrue(compiler.isPresent(), "no C compiler (cc) on the PATH");
        final List<String> command = new ArrayList<>(List.of(
            compiler.get().toString(), "-Wall", "-Werror", "-I" + headers.get(), "-o", output.toString()));
        command.addAll(List.of(options));
        command.add(source.toString());
        assertThat(run(command)).isEmpty();
    }

    private static Optional<Path> headers(final String header)
    {
        final String cache = System.getenv("VERBENA_GUEST_CACHE");
        return Stream.of(Path.of("/usr/include"), Path.of("..", ".verbena", "guest", "tree", "usr", "include"),
                Path.of(cache == null ? "/nowhere" : cache, "tree", "usr", "include"))
            .filter(path -> Files.exists(path.resolve(header))).map(Path::toAbsolutePath).findFirst();
    }

    private static Optional<Path> compiler()
    {
        return Stream.of(System.getenv("PATH").split(":")).map(entry -> Path.of(entry, "cc"))
            .filter(Files::isExecutable).findFirst();
    }

    static List<String> run(final List<String> command) throws IOException, InterruptedException
    {
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output.lines().toList();
    }
}
