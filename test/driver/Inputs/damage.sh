# Damages k.pack, k.cubin, k.o and k.a of the current folder, each in ways that `tilec inspect` names.
: > empty
head -c 20 k.pack > a.pack
head -c 200 k.pack > b.pack
head -c -1 k.pack > c.pack
(cat k.pack && echo x) > d.pack
sed 's/^TILEPACK\x01/TILEPACK\x02/' k.pack > e.pack
sed 's/"entry":"scale_0/"entry":"shale_0/' k.pack > entry.pack
sed 's/\x7fELF/\x7felf/' k.pack > module.pack
sed 's/"kernels"/"colonel"/' k.pack > member.pack
sed 's/"kernels"/"colonel"/' k.o > digest.o
sed 's/TILEEMBD\x01/TILEEMBD\x07/' k.o > version.o
head -c 2000 k.o > cut.o
head -c 1000 k.a > cut.a
head -c 1000 k.cubin > cut.cubin
