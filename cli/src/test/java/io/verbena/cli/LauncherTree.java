package io.verbena.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A copy of the launcher in a tree of its own, with a PATH that holds only what the test puts there and pretended JDKs
 * and Maven that write down how they were called. So the tests neither build nor need what this machine has installed.
 */
final class LauncherTree
{
    private static final List<String> TOOLS = List.of(
        "env", "bash", "readlink", "find", "sed", "flock", "mkdir", "touch", "rm", "mv", "cat", "head", "tail", "grep",
        "awk", "timeout", "paste");

    private final Path folder;
    private final Path root;
    private final Path path;
    private final Map<String, String> environment = new LinkedHashMap<>();

    LauncherTree(final Path folder)
    {
        this.folder = folder;
        root = folder.resolve("a tree with spaces");
        path = folder.resolve("bin");
        try
        {
            for (final String tool : TOOLS)
            {
                script(path.resolve(tool), "exec " + installed(tool) + " \"$@\"");
            }
            write(root.resolve("pom.xml"), "");
            write(root.resolve("cli/pom.xml"), "");
            write(root.resolve("cli/src/main/java/A.java"), "");
            write(root.resolve("config/jvm.args"), "");
            Files.copy(SourceTree.root().resolve("verbena"), root.resolve("verbena"));
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        environment.put("PATH", path.toString());
        environment.put("HOME", folder.toString());
        environment.put("VERBENA_JDK_FOLDERS", folder.resolve("jdks").toString());
    }

    Path root()
    {
        return root;
    }

    Path folder()
    {
        return folder;
    }

    LauncherTree environment(final String name, final String value)
    {
        environment.put(name, value);
        return this;
    }

    /**
     * A JDK that prints the arguments it is started with.
     */
    Path jdk(final String name, final String version)
    {
        final Path home = folder.resolve("jdks").resolve(name);
        write(home.resolve("release"), "IMPLEMENTOR=\"Test\"\nJAVA_VERSION=\"" + version + "\"\n");
        script(home.resolve("bin/javac"), "exit 0");
        script(home.resolve("bin/java"), """
            for argument; do case $argument in
                -XX:AOTCacheOutput=*) [[ -z ${CACHE_FAILS-} ]] || exit 1; echo help > "${argument#*=}"; exit 0;;
                -XX:AOTMode=create) [[ -z ${CACHE_FAILS-} ]] || exit 1; creates=1;;
                -XX:AOTCache=*) if [[ -n ${creates-} ]]; then echo trained > "${argument#*=}"; exit 0; fi;;
                *JarUpgrade) [[ -z ${UPGRADE_FAILS-} ]] || exit 1; : > "${!#}"; exit 0;;
                train-cache)
                    if [[ -n ${TRAINING_INTERRUPTS-} ]]; then
                        read -r _ _ _ launcher _ < "/proc/$PPID/stat"; kill -TERM "$launcher"; exit 143
                    fi
                    [[ -z ${TRAINING_FAILS-} ]] || exit 1; : > "${!#}"; exit 0;;
            esac; done
            echo "jdk %s in $PWD with ${LC_ALL-no locale}"
            printf '<%%s>\\n' "$@"
            exit ${JAVA_EXITS-0}""".formatted(name));
        return home;
    }

    /**
     * Puts these of the machine's own tools on the PATH.
     */
    LauncherTree tools(final String... names)
    {
        for (final String name : names)
        {
            tool(name, "exec " + installed(name) + " \"$@\"");
        }
        return this;
    }

    /**
     * Puts a pretended tool on the PATH.
     */
    LauncherTree tool(final String name, final String body)
    {
        script(path.resolve(name), body);
        return this;
    }

    void executable(final Path file, final String body)
    {
        script(file, body);
    }

    void javaOnPath(final Path jdk) throws IOException
    {
        Files.createSymbolicLink(path.resolve("java"), jdk.resolve("bin/java"));
    }

    LauncherTree maven(final String version)
    {
        script(path.resolve("mvn"), """
            [[ $1 != --version ]] || { echo "Apache Maven %s"; exit 0; }
            root=${3%%/pom.xml}
            echo "$@" >> "$root/maven-calls"
            if [[ -n ${MAVEN_FAILS-} ]]; then
                echo "[INFO] compiling"
                echo "[ERROR] A.java:[1,1] not a statement"
                exit 1
            fi
            mkdir -p "$root/cli/target/surefire-reports"
            [[ -e $root/cli/target/cli.jar ]] || : > "$root/cli/target/cli.jar"
            echo "$root/pom.xml${LIBRARY:+:$LIBRARY}" > "$root/cli/target/classpath"
            [[ $* != *-DskipTests* ]] || exit 0
            printf 'Tests run: 3, Failures: %%s, Errors: 0, Skipped: 1, Time elapsed: 1 s\\n' ${TESTS_FAIL-0} \
                > "$root/cli/target/surefire-reports/A.txt"
            printf 'Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s\\n' \
                > "$root/cli/target/surefire-reports/B.txt"
            printf '%%s\\n' '  <testcase name="shouldX" classname="io.verbena.A" time="0.1">' \\
                '    <skipped message="Assumption failed: no &quot;disk&quot; &amp; no&#10;rights" type="x"/>' \\
                '  <testcase name="shouldY" classname="io.verbena.A" time="0.1"/>' \\
                > "$root/cli/target/surefire-reports/TEST-A.xml"
            exit ${MAVEN_EXITS-0}""".formatted(version));
        return this;
    }

    List<String> mavenCalls() throws IOException
    {
        final Path calls = root.resolve("maven-calls");
        return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
    }

    Run run(final String... args)
    {
        return run(folder, root.resolve("verbena"), args);
    }

    Run run(final Path workingFolder, final Path launcher, final String... args)
    {
        return finish(start(workingFolder, launcher, args));
    }

    Process start(final Path workingFolder, final Path launcher, final String... args)
    {
        final List<String> command = new ArrayList<>(List.of(launcher.toString()));
        command.addAll(List.of(args));
        final ProcessBuilder builder = new ProcessBuilder(command).directory(workingFolder.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        try
        {
            return builder.start();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    static Run finish(final Process process)
    {
        try
        {
            final String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            final String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(60, TimeUnit.SECONDS))
            {
                process.destroyForcibly();
                throw new IllegalStateException("the launcher did not end: " + out + err);
            }
            return new Run(process.exitValue(), out, err);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    void write(final Path file, final String content)
    {
        try
        {
            Files.createDirectories(file.getParent());
            Files.writeString(file, content);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    private void script(final Path file, final String body)
    {
        write(file, "#!" + installed("bash") + "\n" + body + "\n");
        if (!file.toFile().setExecutable(true))
        {
            throw new IllegalStateException("cannot make executable: " + file);
        }
    }

    private static Path installed(final String tool)
    {
        for (final String entry : System.getenv("PATH").split(":"))
        {
            final Path candidate = Path.of(entry, tool);
            if (Files.isExecutable(candidate))
            {
                return candidate;
            }
        }
        throw new IllegalStateException("not on the PATH: " + tool);
    }

    /**
     * How the launcher ended.
     */
    record Run(int status, String out, String err)
    {
    }
}
