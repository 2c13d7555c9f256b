package io.verbena.cli.hosts;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.protocol.bootstrap.OwnerOnly;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is known of one set of emulated hosts while it is there: {@code pid} of the command that holds it and when that
 * started, {@code namespaces} with the process that entered the namespaces, a script for each host that runs a command
 * in it, {@code cut/} with a file for each host whose link is to be cut, {@code links} with what is cut, {@code end}
 * when all shall end.
 *
 * @param path of the folder.
 */
record HostsFolder(Path path)
{
    /** Environment variable of commands in a host: the folder. */
    static final String VARIABLE = "VERBENA_HOSTS";
    private static final String PREFIX = "verbena-hosts-";
    private static final String PID = "pid";
    private static final long MAKING_S = 60;

    /** The folder of all sets of this user. */
    private static Path all()
    {
        final String runtime = System.getenv("XDG_RUNTIME_DIR");
        final Path parent = null != runtime && Files.isWritable(Path.of(runtime)) ? Path.of(runtime) : Path.of("/tmp");
        return parent.resolve(PREFIX + System.getProperty("user.name"));
    }

    /**
     * Makes the folder of a new set, and removes those of sets that ended without removing theirs.
     *
     * @param name of the set.
     * @return its folder.
     */
    static HostsFolder create(final String name)
    {
        final Path all = all();
        try
        {
            OwnerOnly.createFolder(all);
            if (!Files.getOwner(all).equals(Files.getOwner(Path.of("/proc/self"))))
            {
                throw new CommandFailedException(ExitStatus.CANNOT_CREATE,
                    "folder " + all + " belongs to another user: remove it", null);
            }
            for (final HostsFolder folder : folders())
            {
                if (!folder.isLive())
                {
                    folder.delete();
                }
            }
            final HostsFolder folder = new HostsFolder(all.resolve(name));
            if (Files.exists(folder.path))
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, "hosts '" + name +
                    "' are there already: end that command, or give --name another name", null);
            }
            Files.createDirectory(folder.path);
            final long pid = ProcessHandle.current().pid();
            folder.write(PID, pid + " " + startTicks(pid) + '\n');
            Files.createDirectory(folder.cuts());
            return folder;
        }
        catch (final IOException ex)
        {
            throw failed(all, ex);
        }
    }

    /** Of the hosts that a command means: those it runs in, else the only ones that are there. */
    static HostsFolder find()
    {
        final String given = System.getenv(VARIABLE);
        if (null != given)
        {
            return new HostsFolder(Path.of(given));
        }
        final List<HostsFolder> live = folders().stream().filter(HostsFolder::isLive).toList();
        if (1 == live.size())
        {
            return live.getFirst();
        }
        throw new CommandFailedException(ExitStatus.UNAVAILABLE, live.isEmpty() ?
            "there are no hosts: './verbena dev hosts 3' starts some" :
            "there are several sets of hosts: set " + VARIABLE + " to one of " + live.stream()
                .map((folder) -> folder.path.toString()).collect(Collectors.joining(", ")), null);
    }

    private static List<HostsFolder> folders()
    {
        if (!Files.isDirectory(all()))
        {
            return List.of();
        }
        try (Stream<Path> files = Files.list(all()))
        {
            return files.filter(Files::isDirectory).sorted().map(HostsFolder::new).toList();
        }
        catch (final IOException ex)
        {
            throw failed(all(), ex);
        }
    }

    /** Another process may have got the number of one that has ended: the time of its start differs. */
    private boolean isLive()
    {
        try
        {
            if (!Files.exists(path.resolve(PID)))
            {
                // It is being made, or was when its maker was killed.
                return Files.getLastModifiedTime(path).toInstant().isAfter(Instant.now().minusSeconds(MAKING_S));
            }
            final String[] words = Files.readString(path.resolve(PID)).strip().split(" ");
            return 2 == words.length && words[1].equals(startTicks(Long.parseLong(words[0])));
        }
        catch (final IOException | NumberFormatException ex)
        {
            return false;
        }
    }

    private static String startTicks(final long pid) throws IOException
    {
        final String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19];
    }

    /** Writes a file as a whole: a reader sees the old text, or this one. */
    void write(final String name, final String text) throws IOException
    {
        final Path written = path.resolve('.' + name);
        Files.writeString(written, text);
        Files.move(written, path.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    /** @return the script that runs a command in a host. */
    Path script(final String host)
    {
        final Path script = path.resolve(host);
        if (!host.matches("h[1-9][0-9]*") || !Files.isExecutable(script))
        {
            throw new CommandFailedException(ExitStatus.USAGE, "there is no host '" + host + "': there are " +
                String.join(", ", hosts()), null);
        }
        return script;
    }

    List<String> hosts()
    {
        try (Stream<Path> files = Files.list(path))
        {
            final List<String> names = new ArrayList<>(files.map((file) -> file.getFileName().toString())
                .filter((name) -> name.matches("h[1-9][0-9]*")).toList());
            names.sort(Comparator.comparing(String::length).thenComparing(Comparator.naturalOrder()));
            return names;
        }
        catch (final IOException ex)
        {
            throw failed(path, ex);
        }
    }

    private Path cuts()
    {
        return path.resolve("cut");
    }

    /** Asks for a host's link to be cut, or restored. */
    void requestCut(final String host, final boolean isCut)
    {
        final Path request = cuts().resolve(host);
        try
        {
            if (!isCut)
            {
                Files.deleteIfExists(request);
            }
            else if (!Files.exists(request))
            {
                Files.createFile(request);
            }
        }
        catch (final IOException ex)
        {
            throw failed(request, ex);
        }
    }

    /** @return the hosts whose links are to be cut. */
    Set<String> requestedCuts() throws IOException
    {
        try (Stream<Path> files = Files.list(cuts()))
        {
            return files.map((file) -> file.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /** Says which links are cut. */
    void writeLinks(final Set<String> cut) throws IOException
    {
        write("links", String.join(" ", cut) + '\n');
    }

    /** @return the hosts whose links are cut. */
    Set<String> links()
    {
        try
        {
            final String text = Files.readString(path.resolve("links")).strip();
            return text.isEmpty() ? Set.of() : new TreeSet<>(List.of(text.split(" ")));
        }
        catch (final IOException ex)
        {
            throw failed(path, ex);
        }
    }

    /** Asks for the end of all hosts. */
    void requestEnd()
    {
        try
        {
            write("end", "");
        }
        catch (final IOException ex)
        {
            throw failed(path, ex);
        }
    }

    boolean isEndRequested()
    {
        return Files.exists(path.resolve("end"));
    }

    void delete()
    {
        try (Stream<Path> files = Files.walk(path))
        {
            for (final Path file : files.sorted(Comparator.reverseOrder()).toList())
            {
                Files.deleteIfExists(file);
            }
        }
        catch (final IOException ex)
        {
            throw failed(path, ex);
        }
    }

    private static CommandFailedException failed(final Path path, final IOException ex)
    {
        return new CommandFailedException(
            ExitStatus.CANNOT_CREATE, "folder of the hosts " + path + ": " + FileErrors.reason(ex), ex);
    }
}
