package io.verbena.cli.bench;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The programs of Redis on this host.
 *
 * @param server    {@code redis-server}; null where it is not installed.
 * @param benchmark {@code redis-benchmark}; null where it is not installed.
 */
record RedisPrograms(Path server, Path benchmark)
{
    private static final String SERVER = "redis-server";
    private static final String BENCHMARK = "redis-benchmark";

    /**
     * Finds them.
     *
     * @param searchPath folders, as the variable PATH has them.
     * @return those that are there.
     */
    static RedisPrograms find(final String searchPath)
    {
        return new RedisPrograms(find(searchPath, SERVER), find(searchPath, BENCHMARK));
    }

    private static Path find(final String searchPath, final String program)
    {
        return Arrays.stream(searchPath.split(File.pathSeparator)).filter((folder) -> !folder.isEmpty())
            .map((folder) -> Path.of(folder, program)).filter(Files::isExecutable).findFirst().orElse(null);
    }

    /** @return what is not installed, what is not judged for that, and what to do, in one line; null: nothing. */
    String missing()
    {
        if (null != server && null != benchmark)
        {
            return null;
        }
        final String absent = null != server ? BENCHMARK : null != benchmark ? SERVER : SERVER + " and " + BENCHMARK;
        return "no " + absent + " on the PATH: " + (null == benchmark ? "rates and latencies are not measured" :
            "rows that compare with Redis are not judged") + "; install the packages redis-server and redis-tools";
    }
}
