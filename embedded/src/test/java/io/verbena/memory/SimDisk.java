package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.SimDatabase;

import java.io.FileNotFoundException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * The disk of a simulated host with a memory node's folder. A process can be made to end at any step; the host loses
 * what was not synced: names, the ends of files, batches of the database.
 */
public final class SimDisk
{
    /** Small, so that a checkpoint takes many steps. */
    private static final int BATCH_BYTES = 2 << 10;
    private static final String IN_PLACE = "node.properties";

    private static final class Content
    {
        private byte[] bytes = {};
        private byte[] durable = {};
    }

    private final RandomGenerator random;
    private final SimDatabase database = new SimDatabase();
    /** Of the checkpoints of groups, by name. */
    private final Map<String, SimDatabase> groupDatabases = new TreeMap<>();
    private Map<String, Content> names = new TreeMap<>();
    private Map<String, Content> durableNames = new TreeMap<>();
    private Session session;
    private MemoryFolder folder;
    private long stepsLeft = Long.MAX_VALUE;
    private Runnable onCrash;
    private boolean forgetsNames;
    private boolean writesInPlace;

    /** @param random decides what is lost. */
    public SimDisk(final RandomGenerator random)
    {
        this.random = random;
    }

    /** The database of its checkpoints. */
    public SimDatabase database()
    {
        return database;
    }

    /** Breaks the contract: names are never synced. */
    public void forgetNames()
    {
        forgetsNames = true;
    }

    /** As if files were not written under another name first. */
    public void writeInPlace()
    {
        writesInPlace = true;
    }

    /** The process that has the disk ends in so many steps; it is told before the exception is thrown. */
    public void crashIn(final long steps, final Runnable told)
    {
        stepsLeft = steps;
        onCrash = told;
    }

    /** No crash is planned any more. */
    public void calm()
    {
        stepsLeft = Long.MAX_VALUE;
    }

    /** The process that had the disk is gone: it does nothing here any more. */
    public void endProcess()
    {
        if (session != null)
        {
            session.isDead = true;
        }
    }

    /** The host ends, and its processes with it. */
    public void loseHost()
    {
        endProcess();
        names = new TreeMap<>(random.nextBoolean() ? names : durableNames);
        durableNames = new TreeMap<>(names);
        for (final Content content : names.values())
        {
            if (!Arrays.equals(content.bytes, content.durable))
            {
                content.bytes = Arrays.copyOf(content.bytes, random.nextInt(content.bytes.length + 1));
                content.durable = content.bytes;
            }
        }
        database.loseHost(random);
        groupDatabases.values().forEach((each) -> each.loseHost(random));
    }

    /** A checkpoint as it is now, for somebody who is no process: no step of the disk. */
    CheckpointStore look(final String name)
    {
        return database(name).open((_) -> { }, BATCH_BYTES);
    }

    private SimDatabase database(final String name)
    {
        return MemoryFolder.CHECKPOINT.equals(name) ? database :
            groupDatabases.computeIfAbsent(name, (_) -> new SimDatabase());
    }

    /** A new process takes the folder; the one before has ended. */
    public MemoryFolder open(final long regionLengthBytes)
    {
        endProcess();
        session = new Session();
        folder = MemoryFolder.open(
            Path.of("sim"), session, null, 0, regionLengthBytes, random.nextLong(1, Long.MAX_VALUE));
        return folder;
    }

    MemoryFolder folder()
    {
        return folder;
    }

    private final class Session implements FolderFiles
    {
        private boolean isDead;

        private void step(final String what)
        {
            if (!isDead && --stepsLeft == 0)
            {
                isDead = true;
                onCrash.run();
            }
            if (isDead)
            {
                throw new SimCrash(what);
            }
        }

        @Override
        public boolean exists(final String name)
        {
            return name.equals(MemoryFolder.CHECKPOINT) || name.startsWith(FolderFiles.GROUP_CHECKPOINT) ?
                database(name).exists() : names.containsKey(name);
        }

        @Override
        public byte[] read(final String name) throws FileNotFoundException
        {
            final Content content = names.get(name);
            if (content == null)
            {
                throw new FileNotFoundException(name);
            }
            return content.bytes.clone();
        }

        @Override
        public void write(final String name, final byte[] bytes)
        {
            step("write " + name);
            final Content content = names.computeIfAbsent(writesInPlace ? IN_PLACE : name, (absent) -> new Content());
            content.bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
            step("write the rest of " + name);
            content.bytes = bytes.clone();
            step("sync " + name);
            content.durable = content.bytes;
        }

        @Override
        public void rename(final String from, final String to)
        {
            step("rename " + from);
            if (!writesInPlace)
            {
                names.put(to, names.remove(from));
            }
        }

        @Override
        public void syncNames()
        {
            step("sync names");
            durableNames = forgetsNames ? durableNames : new TreeMap<>(names);
        }

        @Override
        public boolean delete(final String name)
        {
            step("delete " + name);
            return names.remove(name) != null;
        }

        @Override
        public CheckpointStore openCheckpoint(final String name)
        {
            step("open " + name);
            return database(name).open(this::step, BATCH_BYTES);
        }

        @Override
        public Set<Integer> groupCheckpoints()
        {
            return groupDatabases.entrySet().stream().filter((each) -> each.getValue().exists())
                .map((each) -> Integer.parseInt(each.getKey().substring(FolderFiles.GROUP_CHECKPOINT.length())))
                .collect(Collectors.toCollection(TreeSet::new));
        }

        @Override
        public void removeCheckpoint(final String name)
        {
            step("remove " + name);
            groupDatabases.remove(name);
        }
    }
}
