import json,subprocess,sys,os
proof=sys.argv[1]; out=sys.argv[2]; client=sys.argv[3]; names=sys.argv[4:]
faults=[json.loads(l) for l in subprocess.run(['python3',client,'--list-faults'],capture_output=True,text=True).stdout.splitlines() if l.strip()]
faults=[f for f in faults if 'http' in f['transports'] and (not names or f['name'] in names)]
done=set()
if os.path.exists(out):
    done={l.split('\t')[0] for l in open(out)}
def run(f,rev):
    p=subprocess.run(['timeout','150',proof,'check-client','--quick','--jobs','8','--revision',rev,'--format','json','--','python3',client,'--fault',f['name']],capture_output=True,text=True)
    try: r=json.loads(p.stdout)
    except Exception: return ['?'+(p.stderr or '')[-150:].replace('\n',' ')]
    return sorted({x['rule']+('' if x['outcome']=='fail' else '~') for x in r['results'] if x['outcome'] in('fail','warn')})
for f in faults:
    if f['name'] in done: continue
    revs=f['revisions']
    order=[r for r in ('2025-11-25','2026-07-28') if r in revs] or revs[-1:]
    found=[];at=''
    for rev in order:
        found=run(f,rev); at=rev
        if found and not found[0].startswith('?'): break
    ok='found' if found and not found[0].startswith('?') else 'missed'
    with open(out,'a') as o: o.write('\t'.join([f['name'],f['area'],f['level'],ok,at,' '.join(found)])+'\n')
